import { createHash } from 'node:crypto';
import { readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseCreateRecord } from '../../../src/archive/create-record';
import { adoptUpdate } from '../../../src/contract/task-messages';
import { createRecordName } from '../../../src/contract/workflow-ids';
import { failureOf, whenStatusIs } from '../../support/task-environment';
import { photoFolder, TaskStack } from '../../support/task-stack';
import { PlainClient } from '../reference-service/plain-client';

let stack: TaskStack;
let service: PlainClient;
beforeAll(async () => {
  stack = await TaskStack.open();
  service = new PlainClient(stack.service);
});
afterAll(() => stack.close());

async function sha256Of(path: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
}

describe('a task that was made elsewhere', () => {
  it('is followed, archived and described by its request id alone', async () => {
    const { url } = await service.upload('rocket.jpg', await readFile(join(photoFolder, 'rocket.jpg')));
    const requestId = await service.createTask(1, { '1:LoadImage.image': url });
    const creates = stack.service.ledger.total('create');
    const result = await (await stack.start({ adopt: { requestId } })).result();

    expect(result).toMatchObject({ status: 'Success', requestId, outputs: [{ ext: '.png' }] });
    const manifest: unknown = JSON.parse(await readFile(result.manifest ?? '', 'utf8'));
    expect(manifest).toMatchObject({ requestId, status: 'Success', webAppId: null, inputs: [] });
    expect(stack.service.ledger.total('create')).toBe(creates);
  });

  it('is archived again when its workflow is over: what is missing or damaged is fetched, what is whole is kept', async () => {
    const first = await (
      await stack.start({ webAppId: 4, inputs: { '1:LoadImage.image': { file: 'rocket.jpg' } } })
    ).result();
    const requestId = first.requestId ?? '';
    const [missing = '', cut = '', changed = '', whole = ''] = first.outputs.map(({ path }) => path);
    const kept = await stat(whole);
    await rm(missing);
    await truncate(cut, 10);
    await writeFile(changed, Buffer.alloc((await readFile(changed)).length));
    const creates = stack.service.ledger.total('create');
    const again = await (await stack.start({ adopt: { requestId } })).result();

    expect(again.outputs).toEqual(first.outputs);
    expect(await Promise.all(first.outputs.map(({ path }) => sha256Of(path)))).toEqual(
      first.outputs.map(({ sha256 }) => sha256),
    );
    expect((await stat(whole)).ino).toBe(kept.ino);
    expect(stack.service.ledger.total('create')).toBe(creates);
  });

  it('that the service does not know fails as TaskNotFound', async () => {
    const failure = await failureOf(await stack.start({ adopt: { requestId: 'never-heard-of' } }));
    expect(failure).toMatchObject({ type: 'TaskNotFound', details: [{ requestId: 'never-heard-of' }] });
  });

  it('that the service has deleted fails as ResultLost, without asking on', async () => {
    const requestId = await service.createTask(5, {});
    stack.service.scenarios.add({ endpoint: 'detail', requestId, scenario: { name: 'refuse', reason: 'outputGone' } });
    const before = stack.service.ledger.total('detail');
    const failure = await failureOf(await stack.start({ adopt: { requestId } }));
    expect(failure).toMatchObject({ type: 'ResultLost', details: [{ requestId }] });
    expect(stack.service.ledger.total('detail') - before).toBe(1);
  });
});

describe('a create whose answer was lost', () => {
  it('is sent once, and its record gets the id that a person brings', async () => {
    stack.service.scenarios.add({ endpoint: 'create', scenario: { name: 'drop-reply' } });
    const before = stack.service.ledger.entries({ endpoint: 'create' }).length;
    const task = await stack.start({ webAppId: 5, inputs: {} });
    await whenStatusIs(task, 'CreateUncertain');
    const record = join(stack.archive, createRecordName(task.workflowId, 1));
    expect(parseCreateRecord(await readFile(record))).toMatchObject({ requestId: null });

    const [create, ...others] = stack.service.ledger.entries({ endpoint: 'create' }).slice(before);
    const requestId = create?.requestId ?? '';
    await task.executeUpdate(adoptUpdate, { args: [{ requestId }] });
    expect(await task.result()).toMatchObject({ status: 'Success', requestId });
    expect(others).toEqual([]);
    expect(parseCreateRecord(await readFile(record))).toMatchObject({ workflowId: task.workflowId, requestId });
  });
});
