import { randomUUID } from 'node:crypto';
import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FaultedTask, type RequestFaultName, startWithFault, haveHit } from './start-with-fault';
import { FaultStack } from './fault-stack';
import { requestFaults, cellsOf, nameOf, processFaults, type Step, steps } from './matrix';
import { brokenPromises } from './promises';
import { followToEnd, statusOf } from './follow-to-end';
import { TaskUnderTest } from './task-under-test';

let stack: FaultStack;

beforeAll(async () => {
  stack = await FaultStack.open();
});
afterAll(() => stack.close());

it('every fault meets a task at some step, and at every step some fault does', () => {
  const rows = Object.values({ ...processFaults, ...requestFaults });
  expect(rows.filter((row) => cellsOf(row).length === 0)).toEqual([]);
  const held = new Set(rows.flatMap((row) => cellsOf(row).map(({ step }) => step)));
  expect([...held].sort()).toEqual([...steps].sort());
});

describe.each(Object.keys(requestFaults) as RequestFaultName[])('when %s', (fault) => {
  const cells = cellsOf(requestFaults[fault]);
  const faulted: Partial<Record<Step, FaultedTask>> = {};

  beforeAll(async () => {
    const run = randomUUID().slice(0, 8);
    const start = async ({ step }: { readonly step: Step }): Promise<void> => {
      faulted[step] = await startWithFault(fault, step, stack, `${step.replaceAll(' ', '-')}-${run}`);
    };
    // An uncertain create holds back the next, and a second one in a row holds it back for minutes.
    const before = new TaskUnderTest(stack, `before-${run}`);
    await before.start();
    await followToEnd(before, 'succeeds');
    // What waits for uploads would meet those of other tasks.
    for (const cell of cells.filter(({ step }) => step === 'upload')) await start(cell);
    await Promise.all(cells.filter(({ step }) => step !== 'upload').map(start));
  });

  it.concurrent.each(cells.map((cell) => ({ ...cell, name: nameOf(fault, cell.step, cell.ending) })))(
    '$name',
    async ({ step, ending }) => {
      const { task, injected } = faulted[step] ?? missing();
      const lift = (): void => {
        for (const one of injected) one.lift();
      };
      expect(await followToEnd(task, ending, lift)).toBe(statusOf(ending));
      expect(haveHit(injected)).toBe(true);
      expect(await brokenPromises(stack, [task])).toEqual([]);
    },
  );
});

describe('what looks for broken promises', () => {
  it('finds a second create, a lost, a changed and a half-written file, a secret, and an error that nobody caught', async () => {
    const task = new TaskUnderTest(stack, `planted-${randomUUID().slice(0, 8)}`);
    await task.start();
    expect(await followToEnd(task, 'succeeds')).toBe('Success');
    expect(await brokenPromises(stack, [task])).toEqual([]);

    const { requestId = '', key } = task;
    const folder = join(stack.parts.archive, requestId);
    const ledgerEntry = stack.parts.service.ledger.open({ method: 'POST', path: '/create', endpoint: 'create' });
    Object.assign(ledgerEntry, { correlation: task.workflowId, requestId });
    appendFileSync(join(folder, '0.mp4'), 'one byte more');
    writeFileSync(join(folder, '.part-0123'), 'half');
    appendFileSync(join(folder, 'manifest.json'), stack.credentials[1] ?? '');
    appendFileSync(stack.parts.logFiles[0] ?? '', 'Unhandled rejection: oh\n');
    expect(await brokenPromises(stack, [task])).toEqual([
      `${key}: was created 2 times`,
      `${key}: archived another output 0 than the service has`,
      `${requestId}/.part-0123 was left in the archive`,
      'an error that nobody caught: Unhandled rejection: oh',
      `a temporary credential in ${requestId}/manifest.json`,
    ]);
    rmSync(folder, { recursive: true });
    expect(await brokenPromises(stack, [task])).toContain(`${key}: lost its output 0`);
  });
});

function missing(): never {
  throw new Error('The task was not started.');
}
