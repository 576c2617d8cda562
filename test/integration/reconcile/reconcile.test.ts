import { randomUUID } from 'node:crypto';
import { appendFile, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseCreateRecord } from '../../../src/archive/create-record';
import { Longhaul } from '../../../src/client/longhaul';
import { type FindingView, findingView } from '../../../src/reconcile/finding-view';
import type { TaskResult } from '../../../src/contract/task-result';
import { createRecordName } from '../../../src/contract/workflow-ids';
import type { ReconcileOptions, Reconciliation } from '../../../src/reconcile/reconcile';
import { ServiceClient } from '../../../src/service';
import { FolderArchive } from '../../../src/storage/archive/folder-archive';
import { eventually } from '../../support/eventually';
import { whenListedAsEnded } from '../../support/listed-end';
import { fastTuning, listedStatusOf, type RunningTask, whenStatusIs } from '../../support/task-environment';
import { TaskStack } from '../../support/task-stack';
import { PlainClient } from '../reference-service/plain-client';
import { commandsOf, compareAll, runCommand } from './compare-all';

/** An app without an input, over in a moment unless it is held. */
const swatch = { webAppId: 5, inputs: {} };

let stack: TaskStack;
let longhaul: Longhaul;
let client: ServiceClient;
let plain: PlainClient;
beforeAll(async () => {
  stack = await TaskStack.open();
  longhaul = new Longhaul({ client: stack.client, taskQueue: stack.taskQueue });
  client = new ServiceClient({ baseUrl: stack.service.url, apiKey: () => stack.service.apiKey });
  plain = new PlainClient(stack.service);
});
afterAll(async () => {
  await client.close();
  await stack.close();
});

/** Each test repairs what it broke, so the next one begins with everything safe. */
afterEach(async () => {
  await whenListed([]);
});

async function compare(more: Partial<ReconcileOptions> = {}): Promise<Reconciliation> {
  return await compareAll({ longhaul, client, archive: stack.archive, taskQueue: stack.taskQueue }, more);
}

async function findings(more: Partial<ReconcileOptions> = {}): Promise<FindingView[]> {
  return (await compare(more)).findings.map((finding) => findingView(finding, stack.taskQueue));
}

/** Waits until Temporal's list, which is behind by a moment, has these kinds of findings come out. */
async function whenListed(kinds: readonly string[], more: Partial<ReconcileOptions> = {}): Promise<FindingView[]> {
  let found: FindingView[] = [];
  const isSo = async (): Promise<boolean> => {
    found = await findings(more);
    return JSON.stringify(found.map(({ kind }) => kind)) === JSON.stringify(kinds);
  };
  try {
    await eventually(isSo, { withinMs: 60_000, everyMs: 200, what: `the findings ${kinds.join(', ')}` });
  } catch (error) {
    throw new Error(`${String(error)}; found ${JSON.stringify(found)}`, { cause: error });
  }
  return found;
}

async function startHeld(): Promise<{ task: RunningTask; requestId: string }> {
  stack.service.scenarios.add({ endpoint: 'create', scenario: { name: 'hold' } });
  const task = await stack.start(swatch);
  await whenStatusIs(task, 'Queuing');
  const created = stack.service.ledger.entries({ endpoint: 'create' }).at(-1);
  return { task, requestId: created?.requestId ?? '' };
}

/** Terminates it, and waits for the list: until that has the end, the commands are those of a workflow that runs. */
async function terminate(task: Pick<RunningTask, 'workflowId' | 'terminate'>): Promise<void> {
  await task.terminate('by hand');
  await whenListedAsEnded(stack.client, task.workflowId, 'TERMINATED');
}

async function archived(more: { readonly archive?: string } = {}): Promise<TaskResult & { requestId: string }> {
  const result = await (await stack.start({ ...swatch, ...more })).result();
  return { ...result, requestId: result.requestId ?? '' };
}

function creates(): number {
  return stack.service.ledger.total('create');
}

describe('a task that is safe', () => {
  it('is only counted: archived, followed, failed or canceled', async () => {
    const before = await compare();
    await archived();
    stack.service.scenarios.add({ endpoint: 'create', scenario: { name: 'fail' } });
    await (await stack.start(swatch)).result().catch(() => undefined);
    const { task: canceled } = await startHeld();
    await canceled.signal('cancel');
    await canceled.result();
    const { task, requestId } = await startHeld();
    await whenListed([]);
    const { safe } = await compare();
    stack.service.release(requestId);
    await task.result();

    expect(safe.archived + safe.nothingToSave - before.safe.archived - before.safe.nothingToSave).toBe(3);
    expect(safe.followed - before.safe.followed).toBe(1);
  });
});

describe('a workflow that was terminated while its task runs', () => {
  it('is named first, and the command that is printed has the task archived', async () => {
    const { task, requestId } = await startHeld();
    const paid = creates();
    await terminate(task);
    const [finding] = await whenListed(['running']);
    expect(finding).toMatchObject({ requestId, workflowId: task.workflowId });
    expect(commandsOf(finding)).toEqual([`longhaul adopt ${requestId} --task-queue ${stack.taskQueue}`]);

    stack.service.release(requestId);
    const adopted = await runCommand(finding?.commands[0]?.command);

    expect(adopted).toMatchObject({ exitCode: 0 });
    expect(adopted.stdout.text).toMatch(/^Success/);
    expect(creates()).toBe(paid);
  });

  it('is named also when nothing but the create record knows of it', async () => {
    const requestId = await plain.createTask(5, {});
    const record = { workflowId: 'task:long-gone', createNumber: 1, sentAt: '2026-01-01T00:00:00.000Z', requestId };
    const archive = new FolderArchive(stack.archive);
    await archive.putIfAbsent(createRecordName('task:long-gone', 1), JSON.stringify(record));
    await plain.waitFor(requestId, 'Success');

    const [finding] = await whenListed(['notArchived']);
    expect(finding).toMatchObject({ requestId, workflowId: 'task:long-gone' });
    expect(await findings({ sinceMs: Date.parse('2026-01-02') })).toEqual([]);
    await expect(runCommand(finding?.commands[0]?.command)).resolves.toMatchObject({ exitCode: 0 });
  });
});

describe('a create whose answer was lost', () => {
  async function startUncertain(): Promise<{ task: RunningTask; requestId: string }> {
    stack.service.scenarios.add({ endpoint: 'create', scenario: { name: 'drop-reply' } });
    const task = await stack.start(swatch);
    await whenStatusIs(task, 'CreateUncertain');
    return { task, requestId: stack.service.ledger.entries({ endpoint: 'create' }).at(-1)?.requestId ?? '' };
  }

  function settleCommands({ workflowId }: { readonly workflowId: string }, ...answers: string[]): string[] {
    return answers.map((answer) => `longhaul reconcile --settle ${workflowId}/1=${answer}`);
  }

  it('waits for a person: the decisions are printed, and the right one settles it', async () => {
    const { task, requestId } = await startUncertain();
    const [finding] = await whenListed(['uncertain']);
    expect(commandsOf(finding)).toEqual([
      `longhaul resolve ${task.workflowId} --adopt REQUEST_ID`,
      `longhaul resolve ${task.workflowId} --recreate`,
      `longhaul resolve ${task.workflowId} --abandon`,
    ]);
    const settlements = [{ workflowId: task.workflowId, createNumber: 1, requestId }];
    await expect(compare({ settlements })).rejects.toThrow(
      /runs; what it waits for is decided with "longhaul resolve"/,
    );

    const withId = commandsOf(finding)[0]?.replace('REQUEST_ID', requestId);
    await expect(runCommand(withId)).resolves.toMatchObject({ exitCode: 0 });
    await task.result();
  });

  it('and whose workflow was terminated: the service’s list shows what it made, and the commands settle it', async () => {
    const { task, requestId } = await startUncertain();
    await terminate(task);
    const [blind] = await whenListed(['uncertain']);
    expect(commandsOf(blind)).toEqual(settleCommands(task, 'REQUEST_ID', 'none'));
    await plain.waitFor(requestId, 'Success');

    const [unarchived, uncertain] = await whenListed(['notArchived', 'uncertain'], { requestIds: [requestId] });
    expect(unarchived).toMatchObject({ requestId, workflowId: null, commands: [] });
    expect(commandsOf(uncertain).slice(0, 1)).toEqual(settleCommands(task, requestId));
    const settlements = [{ workflowId: task.workflowId, createNumber: 1, requestId }];
    const [settled] = await findings({ settlements });
    expect(settled).toMatchObject({ kind: 'notArchived', workflowId: task.workflowId });
    expect(await recordOf(task.workflowId)).toMatchObject({ requestId });
    await expect(runCommand(commandsOf(settled)[0])).resolves.toMatchObject({ exitCode: 0 });
    expect(await findings({ settlements, requestIds: [requestId] })).toEqual([]);
    const withdrawal = [{ workflowId: task.workflowId, createNumber: 1, requestId: null }];
    await expect(compare({ settlements: withdrawal })).rejects.toThrow(
      `Create 1 of ${task.workflowId} made the task ${requestId}; that stands.`,
    );
  });

  it('and that a person found to have made nothing: its record is withdrawn', async () => {
    const { task } = await startUncertain();
    await terminate(task);
    await whenListed(['uncertain']);
    const settlements = [{ workflowId: task.workflowId, createNumber: 1, requestId: null }];

    expect(await findings({ settlements })).toEqual([]);
    await expect(compare({ settlements })).rejects.toThrow(`There is no record of create 1 of ${task.workflowId}`);
  });

  it('and whose workflow ended with a mistyped id: a right answer and a retry get the key out of it', async () => {
    const key = `stuck-${randomUUID()}`;
    stack.service.scenarios.add({ endpoint: 'create', scenario: { name: 'drop-reply' } });
    const task = await longhaul.start({ ...swatch, key, tuning: fastTuning });
    await eventually(async () => (await task.status()).status === 'CreateUncertain');
    const requestId = stack.service.ledger.entries({ endpoint: 'create' }).at(-1)?.requestId ?? '';
    await terminate(stack.client.workflow.getHandle(task.workflowId));
    // As it was before "adopt" asked the service: the run ended under an id that nobody knows.
    const mistyped = await stack.client.workflow.start('task', {
      taskQueue: stack.taskQueue,
      workflowId: task.workflowId,
      memo: (await stack.client.workflow.getHandle(task.workflowId).describe()).memo ?? {},
      args: [{ adopt: { requestId: 'mistyped' }, tuning: fastTuning }],
    });
    await expect(mistyped.result()).rejects.toThrow();
    await whenListedAsEnded(stack.client, task.workflowId, 'FAILED');

    const [uncertain] = await whenListed(['uncertain']);
    expect(commandsOf(uncertain)).toEqual(settleCommands(task, 'REQUEST_ID', 'none'));
    const answer = (id: string): ReconcileOptions['settlements'] => [
      { workflowId: task.workflowId, createNumber: 1, requestId: id },
    ];
    await expect(compare({ settlements: answer('mistyped') })).rejects.toThrow(/does not know the task mistyped/);
    await compare({ settlements: answer(requestId) });
    const before = creates();
    const retried = await longhaul.start({ ...swatch, key, tuning: fastTuning }, { retry: true });
    expect(await retried.result()).toMatchObject({ status: 'Success', requestId });
    expect(creates()).toBe(before);
  });

  it('and was settled with an id that the service does not know: the record is put right', async () => {
    const { task, requestId } = await startUncertain();
    await terminate(task);
    const path = join(stack.archive, createRecordName(task.workflowId, 1));
    const record = parseCreateRecord(await readFile(path));
    await writeFile(path, JSON.stringify({ ...record, requestId: 'mistyped' }));
    await compare({ settlements: [{ workflowId: task.workflowId, createNumber: 1, requestId }] });
    expect(await recordOf(task.workflowId)).toMatchObject({ ...record, requestId });
    const [unarchived] = await whenListed(['notArchived']);
    await expect(runCommand(commandsOf(unarchived)[0])).resolves.toMatchObject({ exitCode: 0 });
  });

  async function recordOf(workflowId: string): Promise<unknown> {
    return parseCreateRecord(await readFile(join(stack.archive, createRecordName(workflowId, 1))));
  }
});

describe('an archive that was damaged', () => {
  it.each<[string, (path: string) => Promise<void>, RegExp, boolean]>([
    ['misses a file', (path) => rm(path), /0\.png is missing\. The service still has it/, false],
    ['has a file that grew', (path) => appendFile(path, 'x'), /0\.png has \d+ bytes instead of \d+/, false],
    [
      'has another file of the same size',
      async (path) => writeFile(path, Buffer.alloc((await readFile(path)).length)),
      /0\.png is not what it was: its SHA-256 is another one/,
      true,
    ],
    [
      'has a manifest that is none',
      (path) => writeFile(path.replace('0.png', 'manifest.json'), '{'),
      /manifest\.json cannot be read as a manifest/,
      false,
    ],
  ])('that %s is repaired by the command, in its own folder', async (_, damage, reason, verify) => {
    const { outputs, requestId } = await archived({ archive: 'my drafts/7' });
    const path = outputs[0]?.path ?? '';
    const content = await readFile(path);
    await damage(path);
    const [finding] = await whenListed(['damaged'], { verify });

    expect(finding?.reason).toMatch(reason);
    expect(finding?.commands[0]?.command).toContain(`adopt ${requestId} --archive 'my drafts/7'`);
    await expect(runCommand(finding?.commands[0]?.command)).resolves.toMatchObject({ exitCode: 0 });
    expect(await findings({ verify: true })).toEqual([]);
    expect((await readFile(path)).equals(content)).toBe(true);
  });
});

describe('a list of request ids from elsewhere', () => {
  it('names tasks that is not known here, those that were never there, and no other', async () => {
    const unknownHere = await plain.createTask(5, {});
    const failed = await plain.createTask(5, {}, { 'X-Reference-Scenario': 'fail' });
    await plain.waitFor(unknownHere, 'Success');
    await plain.waitFor(failed, 'Failed');
    const { requestId: known } = await archived();
    const requestIds = [known, unknownHere, failed, 'never-heard-of'];
    const found = await whenListed(['notArchived', 'unknownId'], { requestIds });

    expect(found).toMatchObject([
      { requestId: unknownHere, account: 'default', commands: [{ when: null }] },
      { requestId: 'never-heard-of', commands: [] },
    ]);
    await expect(runCommand(found[0]?.commands[0]?.command)).resolves.toMatchObject({ exitCode: 0 });
    expect(await findings({ requestIds: requestIds.slice(0, 3) })).toEqual([]);
  });
});

describe('an archive that could not be completed', () => {
  it('is named with the command that has it tried again', async () => {
    stack.service.scenarios.add({ endpoint: 'outputs', scenario: { name: 'expired-links' }, times: 1_000 });
    const task = await stack.start({
      ...swatch,
      tuning: { archiveGraceMs: 1_000, retryMaxMs: 50, poll: { minMs: 20, maxMs: 50 } },
    });
    await whenStatusIs(task, 'ArchiveIncomplete');
    const [finding] = await whenListed(['archiveIncomplete']);
    stack.service.scenarios.clear();

    expect(commandsOf(finding)).toEqual([`longhaul rearchive ${task.workflowId}`]);
    await expect(runCommand(finding?.commands[0]?.command)).resolves.toMatchObject({ exitCode: 0 });
    await task.result();
    expect(await listedStatusOf(task)).toBe('Success');
  });
});
