import { randomUUID } from 'node:crypto';
import { Longhaul } from '../../../src/client/longhaul';
import { eventually } from '../../support/eventually';
import { fastTuning } from '../../support/task-environment';
import { TaskStack } from '../../support/task-stack';

let stack: TaskStack;
beforeAll(async () => {
  stack = await TaskStack.open();
});
afterAll(() => stack.close());

describe('a task that is started again right after its uncertain create was given up', () => {
  it('says that it waits for the answer to that create, until when, and what follows', async () => {
    const longhaul = new Longhaul({ client: stack.client, taskQueue: stack.taskQueue });
    const tuning = { ...fastTuning, createTimeoutMs: 12_000 };
    const input = { key: randomUUID(), webAppId: 5, inputs: {}, tuning };
    stack.service.scenarios.add({ endpoint: 'create', scenario: { name: 'drop-reply' } });
    const sentMs = Date.now();
    const first = await longhaul.start(input);
    await eventually(async () => (await first.status()).status === 'CreateUncertain');
    await first.abandon();
    await first.result().catch(() => undefined);

    const again = await longhaul.start(input, { retry: true });
    const view = await eventually(
      async () => {
        const now = await again.status();
        return now.waitingFor?.startsWith('the answer to an earlier create') === true ? now : undefined;
      },
      { withinMs: 15_000, what: 'the wait to be told' },
    );
    expect(view?.status).toBe('Creating');
    const [, until = ''] = /until ([-\d]+ [:\d]+ UTC) at the latest/.exec(view?.waitingFor ?? '') ?? [];
    expect(Date.parse(until)).toBeGreaterThan(sentMs);
    expect(Date.parse(until)).toBeLessThan(sentMs + 120_000);
    await again.stop();
    await again.result().catch(() => undefined);
    expect(stack.service.ledger.entries({ endpoint: 'create' })).toHaveLength(1);
  });
});
