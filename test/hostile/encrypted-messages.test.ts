import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/activity';
import { Client } from '@temporalio/client';
import { clientDataConverter } from '../../src/client/codec/data-converter';
import { PayloadCipher } from '../../src/client/codec/payload-cipher';
import { Longhaul } from '../../src/client/longhaul';
import type { CodecKeys } from '../../src/config/codec-keys';
import { maxInputBytes } from '../../src/contract/input-bounds';
import { statusQuery } from '../../src/contract/task-messages';
import { codecKeys, newCodecKey } from '../support/codec-keys';
import { FakeService, seen } from '../support/fake-activities';
import { jsonPayload, RawMessages, type RawPayload } from '../support/raw-messages';
import {
  executionOf,
  failureOf,
  fastTuning,
  type RunningTask,
  TaskEnvironment,
  whenStatusIs,
} from '../support/task-environment';

const environment = TaskEnvironment.forSuite();
/** With the longest id: what it costs is to fit. */
const keyId = 'k'.repeat(80);
const keys: CodecKeys = codecKeys({ [keyId]: newCodecKey() });
const cipher = new PayloadCipher(keys);
const small = { webAppId: 7, inputs: {}, tuning: fastTuning };

/** What claims to be encrypted with the key of the worker, and is not. */
const broken: Readonly<Record<string, RawPayload>> = {
  'of which one bit is changed': changed((data) => data.map((byte, index) => (index === 40 ? byte ^ 1 : byte))),
  'that is cut': changed((data) => data.subarray(0, 60)),
  'that is shorter than any': changed((data) => data.subarray(0, 10)),
  'without bytes': changed(() => new Uint8Array()),
  'of another text': changed(() => Buffer.from('x'.repeat(1_000))),
};

function changed(change: (data: Uint8Array) => Uint8Array): RawPayload {
  const encrypted = cipher.encrypt(jsonPayload({ requestId: 'r-of-another', rows: 3, budget: '3EUR' }));
  return { ...encrypted, data: change(encrypted.data ?? new Uint8Array()) };
}

/** The client of the environment, with the keys. */
function encryptingClient(): Client {
  return new Client({ connection: environment.client.connection, dataConverter: clientDataConverter(keys) });
}

/** Workers with the keys, and one task that waits in the queue of the service. */
async function withQueuedTask(during: (task: RunningTask, raw: RawMessages) => Promise<void>): Promise<FakeService> {
  const service = new FakeService({ script: [seen('Queuing')] });
  const work = async (_start: unknown, taskQueue: string): Promise<void> => {
    const task: RunningTask = await encryptingClient().workflow.start('task', {
      ...{ taskQueue, workflowId: `task:${randomUUID()}`, workflowExecutionTimeout: '90 seconds' },
      args: [small],
    });
    try {
      await whenStatusIs(task, 'Queuing');
      await during(task, new RawMessages(environment.client, taskQueue));
    } finally {
      if ((await task.describe()).status.name === 'RUNNING') await task.terminate('the test is over');
    }
  };
  await environment.withWorkers(service.activities, work, { codecKeys: keys });
  return service;
}

describe('a task of workers that encrypt', () => {
  it('goes on after broken payloads in its signals, refuses them in updates and queries, and can be stopped', async () => {
    const service = await withQueuedTask(async (task, raw) => {
      for (const payload of Object.values(broken)) {
        for (const signal of ['callback', 'unknown']) await raw.signal(task.workflowId, signal, [payload]);
        expect(await raw.update(task.workflowId, 'adopt', [payload])).toBe('Encoded failure');
        await expect(raw.query(task.workflowId, 'status', [payload])).rejects.toThrow();
      }
      expect(await task.query(statusQuery)).toMatchObject({ status: 'Queuing' });
      await task.cancel();
      expect(await executionOf(task)).toBe('CANCELLED');
    });
    expect(service.calls.creates).toHaveLength(1);
  });

  it.each(Object.entries(broken))('ends as InputInvalid when its input is one %s', async (_what, payload) => {
    const service = new FakeService();
    await environment.withWorkers(
      service.activities,
      async (_start, taskQueue) => {
        const workflowId = `task:${randomUUID()}`;
        await new RawMessages(environment.client, taskQueue).start('task', workflowId, [payload]);
        const failure = await failureOf(encryptingClient().workflow.getHandle(workflowId));
        expect(failure.type).toBe('InputInvalid');
        expect(failure.message).toMatch(/^.*The input cannot be decoded: .*longhaul-aes-256-gcm/s);
      },
      { codecKeys: keys },
    );
    expect(service.calls.creates).toHaveLength(0);
  });

  it('tells the words of an activity that did not succeed in time, not those of its encoded failure', async () => {
    const service = new FakeService();
    service.onUpload = () => Promise.reject(ApplicationFailure.retryable('the storage is down'));
    await environment.withWorkers(
      service.activities,
      async (_start, taskQueue) => {
        const client = encryptingClient();
        const workflowId = `task:${randomUUID()}`;
        const input = { ...small, inputs: { '1:LoadImage.image': { file: 'a.png' } }, deadlines: { total: 5_000 } };
        const task = await client.workflow.start('task', { taskQueue, workflowId, args: [input] });
        expect((await failureOf(task)).message).toBe('storeInput did not succeed in time: the storage is down');
        const { events } = await environment.client.workflow.getHandle(workflowId).fetchHistory();
        expect(JSON.stringify(events)).not.toContain('the storage is down');
      },
      { codecKeys: keys },
    );
  });
});

describe('a task that an encrypting client started', () => {
  it('names the key that workers need while none answers, also to a client without keys', async () => {
    const taskQueue = `unserved-${randomUUID()}`;
    const longhaul = new Longhaul({ client: encryptingClient(), taskQueue });
    const task = await longhaul.start(small);
    const needed = /No worker answered.* encrypted: workers there need the key "k{80}" \(LONGHAUL_CODEC_KEYS_FILE\)/;
    try {
      const plain = new Longhaul({ client: environment.client, taskQueue });
      const { problem } = await plain.task(task.workflowId).status();
      expect(problem).toMatchObject({
        code: 'NoWorker',
        remedy: expect.stringContaining(`the key "${'k'.repeat(80)}"`) as string,
      });
      await expect(task.abandon()).rejects.toThrow(needed);
    } finally {
      await environment.client.workflow.getHandle(task.workflowId).terminate('the test is over');
    }
  });
});

describe('the largest inputs and the widest names', () => {
  it('fit encrypted, too, with their summary and details and by continue-as-new', async () => {
    const service = new FakeService({
      script: [...Array.from({ length: 12 }, () => seen('Running')), seen('Success')],
    });
    await environment.withWorkers(
      service.activities,
      async (_start, taskQueue) => {
        const longhaul = new Longhaul({ client: encryptingClient(), taskQueue });
        const files = Array.from({ length: 60 }, (_, index) => [
          `${index + 1}:LoadImage.${'字'.repeat(80)}`,
          { file: `/照片/${'🚀'.repeat(60)}${index}.png` },
        ]);
        const inputs = Object.fromEntries(files) as Record<string, { file: string }>;
        const tuning = { ...fastTuning, continueAsNewAfterEvents: 40 };
        const empty = { webAppId: 7, tuning, inputs: { ...inputs, '9000:Prompt.text': '' } };
        const text = 'x'.repeat(maxInputBytes - Buffer.byteLength(JSON.stringify(empty)) - 200);
        const task = await longhaul.start({ webAppId: 7, tuning, inputs: { ...inputs, '9000:Prompt.text': text } });
        expect(await task.result()).toMatchObject({ status: 'Success' });
        const source = `/表/${'字'.repeat(4_000)}.csv`;
        const rows = { location: 'l', digest: 'ab', rows: 1, pages: 1 };
        const batch = await longhaul.startBatch({ id: 'b'.repeat(80), rows, source });
        await environment.client.workflow.getHandle(batch.workflowId).terminate();
      },
      { codecKeys: keys },
    );
    expect(service.calls.creates).toHaveLength(1);
  });
});
