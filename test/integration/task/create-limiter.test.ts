import { statusQuery } from '../../../src/contract/task-messages';
import { eventually } from '../../support/eventually';
import { pendingCreate } from '../../support/pending-create';
import { executionOf, fastTuning, whenStatusIs } from '../../support/task-environment';
import { TaskStack } from '../../support/task-stack';

const app = { webAppId: 5, inputs: {} };
/** So seldom that many tasks side by side leave the machine some air. */
const tuning = { ...fastTuning, poll: { minMs: 500, maxMs: 1_000 } };

/** Runs a stack of its own: what closes the limiter closes it for everybody. */
async function onStack(during: (stack: TaskStack) => Promise<void>, env: NodeJS.ProcessEnv = {}): Promise<void> {
  const stack = await TaskStack.open({ env });
  try {
    await during(stack);
  } finally {
    await stack.close();
  }
}

/** What the worker logs about its limiter of creates, line by line. */
function limiterLog({ lines }: TaskStack): Record<string, unknown>[] {
  return lines.filter(({ msg }) => String(msg).startsWith('create limiter '));
}

/** The answers of the service to creates, in order. */
function createAnswers({ service }: TaskStack): (number | null)[] {
  return service.ledger.entries({ endpoint: 'create' }).map(({ status }) => status);
}

/** What the worker's health endpoint says of the account. */
async function healthOf(stack: TaskStack): Promise<unknown> {
  const response = await stack.health();
  const { accounts } = (await response.json()) as { accounts: Record<string, unknown> };
  return { httpStatus: response.status, ...(accounts['default'] as object) };
}

describe('the limiter of an account’s creates, at the real service', () => {
  it.concurrent(
    'lets a handful of creates through while the service refuses all for 10 s, and then each task once',
    async () => {
      await onStack(async (stack) => {
        stack.service.scenarios.add({
          endpoint: 'create',
          scenario: { name: 'refuse', reason: 'rateLimited', retryAfterSeconds: 2 },
          times: Infinity,
        });
        const tasks = await Promise.all(
          Array.from({ length: 50 }, () => stack.start({ ...app, tuning }, '300 seconds')),
        );
        await eventually(() => createAnswers(stack).includes(429), { withinMs: 60_000 });
        const stormEndsAtMs = Date.now() + 10_000;
        await eventually(() => Date.now() >= stormEndsAtMs, { withinMs: 60_000 });
        const during = createAnswers(stack);
        stack.service.scenarios.clear();

        const results = await Promise.all(tasks.map((task) => task.result()));
        expect(during.every((status) => status === 429)).toBe(true);
        expect(during.length).toBeLessThanOrEqual(10);
        expect(results.map(({ status }) => status)).toEqual(tasks.map(() => 'Success'));
        const accepted = stack.service.ledger.entries({ endpoint: 'create', status: 202 });
        expect(accepted.map(({ requestId }) => requestId).sort()).toEqual(
          results.map(({ requestId }) => requestId).sort(),
        );

        const changes = limiterLog(stack).map(({ msg }) => msg);
        expect(changes[0]).toBe('create limiter closed');
        expect(changes.at(-1)).toBe('create limiter opened');
        // A line for each time that it closed or opened, not for each task that waited.
        expect(changes.length).toBeLessThanOrEqual(during.length + 1);
      });
    },
    400_000,
  );

  it.concurrent(
    'holds back creates alone: polls, archives and stops go on, and each task that waits says why',
    async () => {
      await onStack(
        async (stack) => {
          stack.service.scenarios.add({ endpoint: 'create', scenario: { name: 'hold' } });
          const queued = await stack.start({ ...app, tuning });
          await whenStatusIs(queued, 'Queuing');
          const running = await stack.start({ webAppId: 5, inputs: { '2:Wait.seconds': 3_600 }, tuning });
          await whenStatusIs(running, 'Running');

          const refuse = { name: 'refuse', reason: 'queueFull', retryAfterSeconds: 100 } as const;
          stack.service.scenarios.add({ endpoint: 'create', scenario: refuse });
          const refused = await stack.start({ ...app, tuning }, '300 seconds');
          await eventually(() => limiterLog(stack).length > 0);
          const waiting = await stack.start({ ...app, tuning }, '300 seconds');

          const reason = 'the service refused the last create (HTTP 503: refused on command)';
          const { lastFailure, nextMs } = await pendingCreate(waiting);
          expect(lastFailure).toBe(`The create waits for its turn in the account "default": ${reason}`);
          expect(nextMs).toBeGreaterThan(30_000);
          expect(await waiting.query(statusQuery)).toMatchObject({
            status: 'Creating',
            waitingFor: expect.stringContaining('createTask') as string,
          });
          expect(await healthOf(stack)).toMatchObject({
            httpStatus: 200,
            creates: { state: 'closed', reason, waiting: 0, closedUntil: expect.stringMatching(/Z$/) as string },
            polls: { heldBackUntil: null },
          });
          expect(limiterLog(stack)).toMatchObject([
            { level: 'warn', msg: 'create limiter closed', account: 'default', reason },
          ]);

          const { requestId } = await queued.query(statusQuery);
          stack.service.release(requestId ?? '');
          expect(await queued.result()).toMatchObject({ status: 'Success', outputs: [{ ext: '.png' }] });
          for (const task of [running, waiting, refused]) await task.cancel();
          for (const task of [running, waiting, refused]) expect(await executionOf(task)).toBe('CANCELLED');
          expect(createAnswers(stack)).toEqual([202, 202, 503]);
          expect(limiterLog(stack)).toHaveLength(1);
        },
        { LONGHAUL_HEALTH_ADDRESS: '127.0.0.1:0' },
      );
    },
  );

  it.concurrent('fails no task while the account is refused: each can be stopped, and the others go on', async () => {
    await onStack(async (stack) => {
      const refuse = { name: 'refuse', reason: 'keyDisabled' } as const;
      stack.service.scenarios.add({ endpoint: 'create', scenario: refuse, times: Infinity });
      const [first, second] = [await stack.start({ ...app, tuning }), await stack.start({ ...app, tuning })];
      const late = await stack.start({ ...app, tuning, deadlines: { total: '3 seconds' } });
      expect((await pendingCreate(first)).lastFailure).toContain('API key');
      await expect(late.result()).rejects.toMatchObject({ cause: { type: 'DeadlineExceeded' } });
      await first.cancel();
      expect(await executionOf(first)).toBe('CANCELLED');

      stack.service.scenarios.clear();
      expect(await second.result()).toMatchObject({ status: 'Success' });
      expect(limiterLog(stack)[0]).toMatchObject({ msg: 'create limiter closed', cause: 'account' });
      expect(createAnswers(stack).filter((status) => status === 202)).toHaveLength(1);
    });
  });

  it.concurrent('opens again after every way of saying "not now", and no task fails for it', async () => {
    await onStack(async (stack) => {
      const refusals = [
        { reason: 'rateLimited', retryAfterSeconds: 1 },
        { reason: 'queueFull', retryAfterSeconds: 1 },
        { reason: 'queueFull' },
      ] as const;
      for (const refusal of refusals) {
        stack.service.scenarios.add({ endpoint: 'create', scenario: { name: 'refuse', ...refusal } });
        const task = await stack.start({ ...app, tuning });
        expect(await task.result()).toMatchObject({ status: 'Success' });
      }
      expect(createAnswers(stack)).toEqual([429, 202, 503, 202, 503, 202]);
      const changes = limiterLog(stack).map(({ msg }) => msg);
      expect(changes).toEqual(refusals.flatMap(() => ['create limiter closed', 'create limiter opened']));
    });
  });

  it.concurrent(
    'closes, too, when nobody knows what became of a create; that one is not sent again, and the others go on',
    async () => {
      await onStack(async (stack) => {
        stack.service.scenarios.add({ endpoint: 'create', scenario: { name: 'answer-error', status: 500 } });
        const uncertain = await stack.start({ ...app, tuning });
        await whenStatusIs(uncertain, 'CreateUncertain');
        expect(limiterLog(stack)).toMatchObject([
          { msg: 'create limiter closed', reason: expect.stringContaining('HTTP 500') as string },
        ]);
        const other = await stack.start({ ...app, tuning });
        expect(await other.result()).toMatchObject({ status: 'Success' });
        expect(createAnswers(stack)).toEqual([500, 202]);
        await uncertain.executeUpdate('abandon');
        expect(await executionOf(uncertain)).toBe('FAILED');
      });
    },
  );
});

describe('the limit of an account’s queries, at the real service', () => {
  it.concurrent('sends none for as long as the service asks, and the watch goes on', async () => {
    await onStack(async (stack) => {
      const refuse = { name: 'refuse', reason: 'rateLimited', retryAfterSeconds: 3 } as const;
      stack.service.scenarios.add({ endpoint: 'detail', scenario: refuse });
      const task = await stack.start(app);
      expect(await task.result()).toMatchObject({ status: 'Success' });
      const [refused, next] = stack.service.ledger.entries({ endpoint: 'detail' });
      expect(refused?.status).toBe(429);
      expect(Date.parse(next?.at ?? '') - Date.parse(refused?.at ?? '')).toBeGreaterThanOrEqual(3_000);
      expect((await task.query(statusQuery)).failedPolls).toBeGreaterThan(0);
    });
  });

  it.concurrent(
    'keeps to so many a second, however many tasks there are and however often each would ask',
    async () => {
      await onStack(
        async (stack) => {
          const tasks = await Promise.all([1, 2, 3].map(() => stack.start(app)));
          for (const task of tasks) expect(await task.result()).toMatchObject({ status: 'Success' });
          const sentAtMs = stack.service.ledger.entries({ endpoint: 'detail' }).map(({ at }) => Date.parse(at));
          const seconds = ((sentAtMs.at(-1) ?? 0) - (sentAtMs[0] ?? 0)) / 1_000;
          // A second's places at once, then two each second; the one at either end may have been on its way for a while.
          expect(sentAtMs.length).toBeLessThanOrEqual(2 + 2 * seconds + 2);
        },
        { LONGHAUL_POLLS_PER_SECOND: '2' },
      );
    },
  );
});
