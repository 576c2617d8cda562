import { randomUUID } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parseCreateRecord } from '../../../src/archive/create-record';
import { openArchive } from '../../../src/files';
import { UnknownTaskError } from '../../../src/client/errors';
import { Longhaul } from '../../../src/client/longhaul';
import type { TaskHandle } from '../../../src/client/task/task-handle';
import { createRecordName } from '../../../src/contract/workflow-ids';
import { eventually } from '../../support/eventually';
import { forgetWorkflow } from '../../support/forget-workflow';
import { fastTuning } from '../../support/task-environment';
import { TaskStack } from '../../support/task-stack';

let stack: TaskStack;
let longhaul: Longhaul;
beforeAll(async () => {
  stack = await TaskStack.open();
  longhaul = new Longhaul({ client: stack.client, taskQueue: stack.taskQueue });
});
afterAll(() => stack.close());

/** The answer of a create is waited for as long as the create may be on its way: here not at all. */
const tuning = { ...fastTuning, createTimeoutMs: 3_000 };

function start(key: string, inputs: Record<string, number> = {}): Promise<TaskHandle> {
  return longhaul.start({ key, webAppId: 5, inputs, tuning });
}

describe('the same key after Temporal has forgotten its workflow', () => {
  it('finds the task that was paid, by its create record, and keeps the outputs that are whole', async () => {
    const key = randomUUID();
    const first = await start(key);
    const result = await first.result();
    const path = result.outputs[0]?.path ?? '';
    const { mtimeMs } = await stat(path);
    await forgetWorkflow(stack.client, first.workflowId);

    const again = await start(key);
    expect(again.origin).toBe('started');
    // It is another workflow, which started later.
    expect(await again.result()).toEqual({ ...result, startedAt: expect.any(String) as unknown });
    expect((await stat(path)).mtimeMs).toBe(mtimeMs);
    const creates = stack.service.ledger.entries({ endpoint: 'create', requestId: result.requestId ?? '' });
    expect(creates).toHaveLength(1);
  });

  it('is not needed to read what it made: the archive knows by its create record', async () => {
    const first = await start(randomUUID());
    const { outputs } = await first.result();
    const [other] = await Promise.all([start(randomUUID()), forgetWorkflow(stack.client, first.workflowId)]);
    const archive = openArchive({ place: stack.archive });
    const withArchive = new Longhaul({ client: stack.client, taskQueue: stack.taskQueue, archive });

    await expect(first.result()).rejects.toThrow(UnknownTaskError);
    const kept = await withArchive.task(first.workflowId).outputs();
    expect(kept.map(({ path, sha256 }) => ({ path, sha256 }))).toMatchObject(
      outputs.map(({ path, sha256 }) => ({ path, sha256 })),
    );
    expect((await (await kept[0]?.read())?.toArray())?.length).toBeGreaterThan(0);
    await expect(withArchive.task(randomUUID()).outputs()).rejects.toThrow(UnknownTaskError);
    await other.result();
  });

  it('is refused with another input, instead of giving out what was paid for the former one', async () => {
    const key = randomUUID();
    const first = await start(key);
    const { requestId } = await first.result();
    await forgetWorkflow(stack.client, first.workflowId);
    const before = stack.service.ledger.total('create');

    const other = await start(key, { '2:Wait.seconds': 1 });

    await expect(other.result()).rejects.toMatchObject({ failureType: 'InputChanged', requestId: null });
    expect(stack.service.ledger.total('create')).toBe(before);
    expect(requestId).not.toBeNull();
  });

  it('settles an uncertain create by the adoption of its task', async () => {
    const key = randomUUID();
    stack.service.scenarios.add({ endpoint: 'create', scenario: { name: 'drop-reply' } });
    const before = stack.service.ledger.entries({ endpoint: 'create' }).length;
    const first = await start(key);
    await eventually(async () => (await first.status()).status === 'CreateUncertain');
    await stack.client.workflow.getHandle(first.workflowId).terminate('as by an operator');
    await forgetWorkflow(stack.client, first.workflowId);
    const { requestId = '' } = stack.service.ledger.entries({ endpoint: 'create' })[before] ?? {};
    const record = join(stack.archive, createRecordName(first.workflowId, 1));
    expect(parseCreateRecord(await readFile(record))).toMatchObject({ requestId: null });

    await (await longhaul.adopt(requestId, { key, tuning })).result();

    expect(parseCreateRecord(await readFile(record))).toMatchObject({ requestId, workflowId: first.workflowId });
  });

  it('is uncertain again when the answer was lost, and sends nothing by itself', async () => {
    const key = randomUUID();
    stack.service.scenarios.add({ endpoint: 'create', scenario: { name: 'drop-reply' } });
    const before = stack.service.ledger.total('create');
    const first = await start(key);
    await eventually(async () => (await first.status()).status === 'CreateUncertain');
    await stack.client.workflow.getHandle(first.workflowId).terminate('as by an operator');
    await forgetWorkflow(stack.client, first.workflowId);

    const again = await start(key);
    await eventually(async () => (await again.status()).status === 'CreateUncertain');
    expect((await again.status()).problem?.message).toContain('left no answer in its record');
    expect(stack.service.ledger.total('create')).toBe(before + 1);
    await stack.client.workflow.getHandle(again.workflowId).terminate('the test is over');
  });
});
