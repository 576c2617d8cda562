import { randomUUID } from 'node:crypto';
import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AmbushedTask, type AmbushName, ambushTask, haveHit } from './ambush-task';
import { FaultStack } from './fault-stack';
import { ambushes, cellsOf, nameOf, type Step } from './matrix';
import { brokenPromises } from './promises';
import { settle, statusOf } from './settle';
import { TaskUnderFire } from './task-under-fire';

let stack: FaultStack;

beforeAll(async () => {
  stack = await FaultStack.open();
});
afterAll(() => stack.close());

describe.each(Object.keys(ambushes) as AmbushName[])('when %s', (fault) => {
  const cells = cellsOf(ambushes[fault]);
  const ambushed: Partial<Record<Step, AmbushedTask>> = {};

  beforeAll(async () => {
    const run = randomUUID().slice(0, 8);
    const start = async ({ step }: { readonly step: Step }): Promise<void> => {
      ambushed[step] = await ambushTask(fault, step, stack, `${step.replaceAll(' ', '-')}-${run}`);
    };
    // What waits for uploads would meet those of other tasks.
    for (const cell of cells.filter(({ step }) => step === 'upload')) await start(cell);
    await Promise.all(cells.filter(({ step }) => step !== 'upload').map(start));
  });

  it.concurrent.each(cells.map((cell) => ({ ...cell, name: nameOf(fault, cell.step, cell.ending) })))(
    '$name',
    async ({ step, ending }) => {
      const { task, laid } = ambushed[step] ?? missing();
      const lift = (): void => {
        for (const one of laid) one.lift();
      };
      expect(await settle(task, ending, lift)).toBe(statusOf(ending));
      expect(haveHit(laid)).toBe(true);
      expect(await brokenPromises(stack, [task])).toEqual([]);
    },
  );
});

describe('what looks for broken promises', () => {
  it('finds a second create, a lost, a changed and a half-written file, a secret, and an error that nobody caught', async () => {
    const task = new TaskUnderFire(stack, `planted-${randomUUID().slice(0, 8)}`);
    await task.start();
    expect(await settle(task, 'succeeds')).toBe('Success');
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
