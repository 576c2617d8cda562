import { randomUUID } from 'node:crypto';
import { runCommandLine } from '../../../src/commands/program';
import { eventually } from '../../support/eventually';
import { FakeContext } from '../../support/fake-context';
import { ClientEnvironment, smallInput } from './client-environment';

let environment: ClientEnvironment;
beforeAll(async () => {
  environment = await ClientEnvironment.open();
  await environment.startWorkers();
});
afterAll(() => environment.close());

async function run(...args: string[]): Promise<FakeContext> {
  const context = new FakeContext({ TEMPORAL_ADDRESS: environment.address });
  await runCommandLine(args, context);
  return context;
}

describe('longhaul list', () => {
  it('tells a task that was given up in CreateUncertain from one that waits in it', async () => {
    const tag = `given-up:${randomUUID()}`;
    const keys = [randomUUID(), randomUUID()] as const;
    for (const key of keys) {
      environment.service.createOutcomes = [{ outcome: 'uncertain', reason: 'the connection was reset' }];
      const task = await environment.longhaul.start({ ...smallInput, key }, { tags: [tag] });
      await eventually(async () => (await task.status()).status === 'CreateUncertain');
    }
    await run('resolve', keys[0], '--abandon');

    const lines = await eventually(async () => {
      const { stdout } = await run('list', '--tag', tag);
      return stdout.text.includes('(failed)') ? stdout.text.trim().split('\n') : undefined;
    });
    const stateOf = (key: string): string | undefined => lines?.find((line) => line.includes(key))?.split(/ {2,}/)[0];
    expect(keys.map(stateOf)).toEqual(['CreateUncertain (failed)', 'CreateUncertain']);
    await run('resolve', keys[1], '--abandon');
  });
});
