import { randomBytes, randomUUID } from 'node:crypto';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import type { temporal } from '@temporalio/proto';
import { PayloadCipher } from '../../src/client/codec/payload-cipher';
import { taskWorkflowId } from '../../src/contract/workflow-ids';
import { codecKeys, newCodecKey, writeCodecKeys } from '../support/codec-keys';
import { eventually } from '../support/eventually';
import { textsOf } from '../support/evidence';
import { ProcessStack } from '../support/process-stack';
import { jsonPayload, RawMessages } from '../support/raw-messages';
import { type CommandEnd, runLonghaul } from '../support/run-longhaul';
import { photoFolder } from '../support/task-stack';

type Event = temporal.api.history.v1.IHistoryEvent;

const prompt = `a letter to ${randomBytes(8).toString('hex')}`;
const fileName = 'rocket.jpg';
const postcard = '6';
const [firstKey, secondKey] = [newCodecKey(), newCodecKey()];
const patience = { withinMs: 60_000 };

let stack: ProcessStack;
/** The environment with the first key, with both after the second became current, and with none. */
const envs: Record<'first' | 'both' | 'none', NodeJS.ProcessEnv> = { first: {}, both: {}, none: {} };

beforeAll(async () => {
  stack = await ProcessStack.open();
  copyFileSync(join(photoFolder, fileName), join(stack.inputs, fileName));
  envs.none = stack.env;
  envs.first = withKeys({ first: firstKey });
  envs.both = withKeys({ second: secondKey, first: firstKey });
});
afterAll(() => stack.close());

function withKeys(keys: Record<string, string>): NodeJS.ProcessEnv {
  return { ...stack.env, LONGHAUL_CODEC_KEYS_FILE: writeCodecKeys(join(stack.inputs, '..'), keys) };
}

async function eventsOf(workflowId: string): Promise<Event[]> {
  const { events } = await stack.client.workflow.getHandle(workflowId).fetchHistory();
  return events ?? [];
}

/** The ids of the keys that payloads of a workflow's history are encrypted with, in their order. */
async function keyIdsOf(workflowId: string): Promise<string[]> {
  return textsOf(await eventsOf(workflowId), '').flatMap(({ where, text }) =>
    where.endsWith('encryption-key-id') ? [text] : [],
  );
}

function run(env: NodeJS.ProcessEnv, ...args: string[]): Promise<CommandEnd> {
  return runLonghaul(args, env);
}

describe('a task that runs', () => {
  /** Starts one that the service holds. */
  async function startHeld(env: NodeJS.ProcessEnv): Promise<{ key: string; workflowId: string }> {
    stack.service.scenarios.add({ endpoint: 'create', scenario: { name: 'hold' } });
    const key = `held-${randomUUID()}`;
    expect(await startDetached(env, key)).toMatchObject({ exitCode: 0 });
    return { key, workflowId: taskWorkflowId(key) };
  }

  function startDetached(env: NodeJS.ProcessEnv, key: string): Promise<CommandEnd> {
    const photo = `1:LoadImage.image=@${join(stack.inputs, fileName)}`;
    const inputs = ['-i', photo, '-s', `3:Text Watermark.text=${prompt}`];
    return run(env, 'run', postcard, '--key', key, ...inputs, '--detach', '--task-queue', stack.taskQueue);
  }

  /** The request id of the create that comes next. */
  async function nextCreate(): Promise<string> {
    const known = new Set(creates().map(({ number }) => number));
    const next = await eventually(() => creates().find(({ number }) => !known.has(number))?.requestId, patience);
    return next ?? '';
  }

  function creates() {
    return stack.service.ledger.entries({ endpoint: 'create' });
  }

  /** Why the first workflow task that failed did so. */
  function failureOfTask(workflowId: string): Promise<string> {
    const find = async (): Promise<string> => {
      const failed = (await eventsOf(workflowId)).find((one) => one.workflowTaskFailedEventAttributes);
      return failed?.workflowTaskFailedEventAttributes?.failure?.message ?? '';
    };
    return eventually(find, { ...patience, what: 'a failed workflow task' });
  }

  it('goes on when the key is changed meanwhile, and when encryption is turned on meanwhile', async () => {
    const old = await stack.startWorker(envs.none);
    const plainCreate = nextCreate();
    const before = await startHeld(envs.none);
    const plainRequest = await plainCreate;
    await old.stop();

    const first = await stack.startWorker(envs.first);
    const create = nextCreate();
    const held = await startHeld(envs.first);
    const request = await create;
    await first.stop();

    const both = await stack.startWorker(envs.both);
    for (const id of [plainRequest, request]) stack.service.release(id);
    for (const { key } of [before, held]) {
      expect(await run(envs.both, 'status', key, '--follow')).toMatchObject({ exitCode: 0 });
    }
    await both.stop();
    expect(new Set(await keyIdsOf(held.workflowId))).toEqual(new Set(['first', 'second']));
    for (const { workflowId } of [before, held]) expect((await keyIdsOf(workflowId)).at(-1)).toBe('second');
    const [start] = await eventsOf(before.workflowId);
    expect(textsOf(start, '').filter(({ text }) => text.includes(prompt))).not.toEqual([]);
  });

  it('waits while no worker has its key, says which one that is, and goes on once a worker has it', async () => {
    const before = creates().length;
    const without = await stack.startWorker(envs.none);
    const { key, workflowId } = await startHeld(envs.first);
    expect(await failureOfTask(workflowId)).toMatch(
      /LONGHAUL_CODEC_KEYS_FILE is not set, but a payload is encrypted with the key "first"; give it/,
    );
    await eventually(() => without.output().includes('LONGHAUL_CODEC_KEYS_FILE is not set'), patience);
    expect(creates()).toHaveLength(before);
    await without.stop();

    const create = nextCreate();
    const right = await stack.startWorker(envs.first);
    stack.service.release(await create);
    expect(await run(envs.first, 'status', key, '--follow')).toMatchObject({ exitCode: 0 });
    await right.stop();
  });

  it('says which key a worker lacks that has others, in plain words although it encodes failures', async () => {
    const other = await stack.startWorker(withKeys({ first: secondKey }));
    const { key, workflowId } = await startHeld(envs.first);
    expect(await failureOfTask(workflowId)).toMatch(
      /LONGHAUL_CODEC_KEYS_FILE has another key "first" than a payload is encrypted with/,
    );
    await expectNoAdviceToPayAgain(key);
    await stack.client.workflow.getHandle(workflowId).terminate();
    await other.stop();
  });

  /** A new key would be a second task of the same order. */
  async function expectNoAdviceToPayAgain(key: string): Promise<void> {
    expect(await startDetached(envs.first, key)).toMatchObject({ exitCode: 0 });
    const reasons = [
      [envs.none, 'is not set, but a payload is encrypted with the key "first"; give it'],
      [withKeys({ first: secondKey }), 'has another key "first" than a payload is encrypted with'],
    ] as const;
    for (const [env, reason] of reasons) {
      const { exitCode, stderr } = await startDetached(env, key);
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`LONGHAUL_CODEC_KEYS_FILE ${reason}`)]);
      expect(stderr).not.toContain('a key of its own');
    }
  }

  it('is held by a signal with a key that nobody has, in words that name it, and others of its worker go on', async () => {
    const worker = await stack.startWorker(envs.first);
    const create = nextCreate();
    const { workflowId } = await startHeld(envs.first);
    await create;
    const forged = new PayloadCipher(codecKeys({ forged: newCodecKey() })).encrypt(jsonPayload({ requestId: 'r' }));
    await new RawMessages(stack.client, stack.taskQueue).signal(workflowId, 'callback', [forged]);
    expect(await failureOfTask(workflowId)).toMatch(
      /LONGHAUL_CODEC_KEYS_FILE has no key "forged", which a payload is encrypted with; add it/,
    );
    const photo = `1:LoadImage.image=@${join(stack.inputs, fileName)}`;
    const beside = await run(envs.first, 'run', postcard, '-i', photo, '--task-queue', stack.taskQueue);
    expect(beside).toMatchObject({ exitCode: 0 });
    await stack.client.workflow.getHandle(workflowId).terminate();
    await worker.stop();
  });
});
