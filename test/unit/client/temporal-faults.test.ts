import { status } from '@grpc/grpc-js';
import { TemporalUnreachableError } from '../../../src/client/connection-errors';
import { Longhaul } from '../../../src/client/longhaul';
import { runCommandLine } from '../../../src/commands/program';
import { FakeContext } from '../../support/fake-context';
import { startOneMethodServer } from '../../support/one-method-server';

interface Answer {
  readonly code: status;
  readonly details: string;
}

/** A Temporal that answers each description of a workflow with the next of these, and the last one ever after. */
async function withTemporal(answers: readonly Answer[], use: (address: string) => Promise<void>): Promise<void> {
  const left = [...answers];
  const server = await startOneMethodServer('DescribeWorkflowExecution', (_call, answer) => {
    answer((left.length > 1 ? left.shift() : left[0]) ?? null);
  });
  try {
    await use(`127.0.0.1:${server.port}`);
  } finally {
    server.stop();
  }
}

async function statusAt(address: string): Promise<FakeContext> {
  const context = new FakeContext({ TEMPORAL_ADDRESS: address });
  await runCommandLine(['status', 'order-17'], context);
  return context;
}

const notFound = { code: status.NOT_FOUND, details: 'workflow not found for ID: task:order-17' };

describe('a request that Temporal does not carry out', () => {
  it.each(['INTERNAL', 'UNIMPLEMENTED', 'CANCELLED'] as const)(
    'though it answers (%s) ends a command with 6 and Temporal’s words, as an outage does',
    async (name) => {
      await withTemporal([{ code: status[name], details: 'shard is lost' }], async (address) => {
        const { exitCode, stderr } = await statusAt(address);

        expect(exitCode).toBe(6);
        expect(stderr.text).toMatch(
          new RegExp(`^Temporal at ${address} .*: it answered ${name} \\(shard is lost\\)\\.`),
        );
        expect(stderr.text).not.toContain('Unexpected');
      });
    },
  );

  it('is an outage to a program, which may wait for its end', async () => {
    await withTemporal([{ code: status.INTERNAL, details: 'shard is lost' }], async (address) => {
      const longhaul = await Longhaul.connect({ env: {}, address });
      await expect(longhaul.task('order-17').status()).rejects.toThrow(TemporalUnreachableError);
      await longhaul.close();
    });
  });

  it('is sent again where Temporal has canceled it and nobody here', async () => {
    await withTemporal([{ code: status.CANCELLED, details: 'context canceled' }, notFound], async (address) => {
      const { exitCode, stderr } = await statusAt(address);

      expect([exitCode, stderr.text]).toEqual([2, expect.stringContaining('There is no task task:order-17')]);
    });
  });
});
