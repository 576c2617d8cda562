import { batchStatusText } from '../../../src/commands/batch/batch-status';
import type { BatchHandle } from '../../../src/client/batch/batch-handle';
import { Longhaul } from '../../../src/client/longhaul';
import { eventually } from '../../support/eventually';
import { metadataOf } from '../../support/evidence';
import { fastBatchTuning } from '../../support/fake-batch';
import { preparedRowFile } from '../../support/prepared-row-file';
import { TaskStack } from '../../support/task-stack';
import { temporaryFolder } from '../../support/temporary-folder';

const folder = temporaryFolder();
afterAll(() => {
  folder.remove();
});

/** Runs a batch of three rows on a worker of its own: what closes its limiter closes it for everybody. */
async function withBatch(
  id: string,
  env: NodeJS.ProcessEnv,
  prepare: (stack: TaskStack) => void,
  during: (batch: BatchHandle, stack: TaskStack) => Promise<void>,
): Promise<void> {
  const stack = await TaskStack.open({
    service: { slots: 50 },
    env: { ...env, LONGHAUL_INPUT_ROOTS: folder.path },
  });
  try {
    prepare(stack);
    const rowsOfFile = ['a', 'b', 'c'].map((key) => ({ key, webAppId: 5, inputs: {} }));
    const rows = await preparedRowFile(folder.path, id, rowsOfFile);
    const { client, taskQueue } = stack;
    const tuning = { ...fastBatchTuning, pollEveryMs: 200 };
    await during(await new Longhaul({ client, taskQueue }).startBatch({ id, rows, tuning }), stack);
  } finally {
    await stack.close();
  }
}

describe('a batch whose creates are all refused for now', () => {
  it('says so on its page and in its status, since when and in which words, until they are taken', async () => {
    const beforeMs = Date.now();
    const refusal = { name: 'refuse', reason: 'rateLimited' } as const;
    const refuseAll = ({ service }: TaskStack): void => {
      service.scenarios.add({ endpoint: 'create', scenario: refusal, times: 1_000 });
    };
    await withBatch('held-up', {}, refuseAll, async (batch, stack) => {
      await eventually(async () => (await batch.status()).progress?.rowStates?.problem?.rows === 3, {
        withinMs: 30_000,
        what: 'three rows with a problem',
      });
      const view = await batch.status();
      const { problem } = view;
      expect(view.progress?.rowStates?.counts).toEqual({ Creating: 3 });
      expect(problem).toMatchObject({ code: 'Retrying', remedy: expect.stringContaining(' --problem ') as string });
      expect(problem?.message).toMatch(/^3 rows, the first \([abc]\): createTask: .*HTTP 429/);
      const sinceMs = Date.parse(problem?.since ?? '');
      expect(sinceMs).toBeGreaterThanOrEqual(beforeMs - 1_000);
      expect(sinceMs).toBeLessThanOrEqual(Date.now());
      expect(batchStatusText(view, Date.now())).toMatch(
        /^ {2}problem +Retrying since .* UTC.*: 3 rows, the first \([abc]\): createTask: .*HTTP 429/m,
      );
      const workflow = stack.client.workflow.getHandle(batch.workflowId);
      const page = (await metadataOf(workflow)).map(({ text }) => text).join('\n');
      expect(page).toMatch(/\*\*Problem:\*\* .*Retrying since .* UTC: 3 rows, the first \([abc]\): createTask: .*429/);

      stack.service.scenarios.clear();
      expect(await batch.result()).toMatchObject({ success: 3, failed: 0 });
    });
  });
});

describe('a batch whose creates wait for their turn within the limit of their account', () => {
  it('has no problem, since nothing is wrong', async () => {
    const env = { LONGHAUL_CREATES_PER_SECOND: '0.1' };
    await withBatch(
      'in-turn',
      env,
      () => undefined,
      async (batch, { client }) => {
        const attemptsOf = async (key: string): Promise<number> => {
          const { raw } = await client.workflow.getHandle(`${batch.workflowId}:${key}`).describe();
          const create = raw.pendingActivities?.find(({ activityType }) => activityType?.name === 'createTask');
          return create?.lastFailure == null ? 1 : (create.attempt ?? 1);
        };
        await eventually(async () => (await Promise.all(['a', 'b', 'c'].map(attemptsOf))).some((tried) => tried > 1), {
          withinMs: 30_000,
          what: 'a create that waits for its turn',
        });
        const sinceIso = new Date().toISOString();
        await eventually(async () => {
          const { asOf = '', counts = {} } = (await batch.status()).progress?.rowStates ?? {};
          return asOf > sinceIso && (counts['Creating'] ?? 0) > 0;
        });
        const { problem, progress } = await batch.status();
        expect(problem).toBeNull();
        expect(progress?.rowStates).not.toHaveProperty('problem');
        await batch.stop();
      },
    );
  });
});
