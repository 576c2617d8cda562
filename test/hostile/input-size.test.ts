import { randomUUID } from 'node:crypto';
import { Client } from '@temporalio/client';
import { connectTemporal } from '../../src/client/connect-temporal';
import { InputInvalidError } from '../../src/client/errors';
import { RequestTooLargeError } from '../../src/client/connection-errors';
import { Longhaul } from '../../src/client/longhaul';
import { askTemporal } from '../../src/client/temporal-access';
import { maxInputBytes } from '../../src/contract/input-bounds';
import { FakeService, seen } from '../support/fake-activities';
import { jsonPayload, RawMessages } from '../support/raw-messages';
import { failureOf, fastTuning, TaskEnvironment } from '../support/task-environment';

const environment = TaskEnvironment.forSuite();

/** An input of exactly so many bytes, in files and one long value. */
function inputOf(bytes: number, files: number): Record<string, unknown> {
  const named = Array.from({ length: files }, (_, index) => [`${index + 1}:LoadImage.image`, { file: `${index}.png` }]);
  const inputs = (text: string): object => Object.fromEntries([...named, ['9000:Prompt.text', text]]) as object;
  const input = (text: string): Record<string, unknown> => ({ webAppId: 7, tuning: fastTuning, inputs: inputs(text) });
  return input('x'.repeat(bytes - Buffer.byteLength(JSON.stringify(input('')))));
}

describe('an input of the largest size', () => {
  it.concurrent(
    'goes the whole way to its archive, by continue-as-new, with resources of the longest names',
    async () => {
      const service = new FakeService({
        script: [...Array.from({ length: 12 }, () => seen('Running')), seen('Success')],
      });
      const { storeInput } = service.activities;
      const activities = {
        ...service.activities,
        storeInput: async (...args: Parameters<typeof storeInput>) => {
          const stored = await storeInput(...args);
          return { ...stored, name: '字'.repeat(85), objectKey: 'k'.repeat(1_024), sha256: 'a'.repeat(64) };
        },
      };
      const input = inputOf(maxInputBytes - 60, 40);
      const tuning = { ...fastTuning, continueAsNewAfterEvents: 40 };
      await environment.withTask(activities, { ...input, tuning }, async (task) => {
        expect(await task.result()).toMatchObject({ status: 'Success' });
        expect((await task.describe()).runId).not.toBe(task.firstExecutionRunId);
      });
      expect(service.calls.archives[0]?.inputs).toHaveLength(40);
      expect(service.calls.creates).toHaveLength(1);
    },
  );
});

describe('an input beyond that', () => {
  it.concurrent(
    'is refused by the workflow when another client sends it, with its size, field and remedy',
    async () => {
      const service = new FakeService();
      await environment.withWorkers(service.activities, async (_start, taskQueue) => {
        for (const bytes of [maxInputBytes + 1, 1_900_000]) {
          const workflowId = `task:${randomUUID()}`;
          await new RawMessages(environment.client, taskQueue).start('task', workflowId, [
            jsonPayload(inputOf(bytes, 1)),
          ]);
          const failure = await failureOf(environment.client.workflow.getHandle(workflowId));
          expect(failure.type).toBe('InputInvalid');
          expect(failure.message).toMatch(new RegExp(`${bytes} bytes.*files`));
        }
        expect(service.calls.creates).toHaveLength(0);
      });
    },
  );

  it.concurrent(
    'is refused by Longhaul’s client before anything is sent, and so is everything else that is too long',
    async () => {
      const longhaul = new Longhaul({ client: environment.client, taskQueue: 'nobody' });
      const start = longhaul.start({ ...(inputOf(5_000_000, 0) as { webAppId: number; inputs: never }) });
      await expect(start).rejects.toThrow(InputInvalidError);
      await expect(longhaul.task(randomUUID()).adopt('x'.repeat(5_000_000))).rejects.toThrow(InputInvalidError);
      const rows = { location: 'x'.repeat(5_000_000), digest: 'ab', rows: 1, pages: 1 };
      await expect(longhaul.startBatch({ id: randomUUID(), rows })).rejects.toThrow(InputInvalidError);
    },
  );

  it.concurrent(
    'that only Temporal can refuse is told as too large at once, not as an unreachable Temporal',
    async () => {
      const address = process.env['LONGHAUL_TEST_TEMPORAL_ADDRESS'] ?? '';
      const connection = await connectTemporal({ address, namespace: 'default', connectionOptions: { address } });
      const client = new Client({ connection });
      const access = { client, address, taskQueue: 'nobody', webUiUrl: null };
      const ask = (bytes: number): Promise<unknown> => {
        const workflowId = `task:${randomUUID()}`;
        const args = ['x'.repeat(bytes)];
        return askTemporal(access, workflowId, () =>
          client.workflow.start('task', { taskQueue: 'nobody', workflowId, args }),
        );
      };
      const sinceMs = Date.now();
      for (const bytes of [2_500_000, 5_000_000]) await expect(ask(bytes)).rejects.toThrow(RequestTooLargeError);
      expect(Date.now() - sinceMs).toBeLessThan(10_000);
      await connection.close();
    },
  );
});
