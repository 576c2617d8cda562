import { type sendUnaryData, Server, ServerCredentials, type ServerUnaryCall, status } from '@grpc/grpc-js';
import { temporal } from '@temporalio/proto';
import { TemporalUnreachableError } from '../../../src/client/connection-errors';
import { Longhaul } from '../../../src/client/longhaul';
import { runCommandLine } from '../../../src/commands/program';
import { FakeContext } from '../../support/fake-context';

const { GetSystemInfoResponse } = temporal.api.workflowservice.v1;

interface Answer {
  readonly code: status;
  readonly details: string;
}

/** A Temporal that answers each description of a workflow with the next of these, and the last one ever after. */
async function withTemporal(answers: readonly Answer[], use: (address: string) => Promise<void>): Promise<void> {
  const left = [...answers];
  const server = new Server();
  const bytes = (message: Uint8Array): Buffer => Buffer.from(message);
  const method = (name: string): object => ({
    path: `/temporal.api.workflowservice.v1.WorkflowService/${name}`,
    ...{ requestStream: false, responseStream: false, requestSerialize: bytes, requestDeserialize: bytes },
    ...{ responseSerialize: bytes, responseDeserialize: bytes },
  });
  const service = { getSystemInfo: method('GetSystemInfo'), describe: method('DescribeWorkflowExecution') };
  server.addService(service as never, {
    getSystemInfo: (_call: ServerUnaryCall<Buffer, Uint8Array>, answer: sendUnaryData<Uint8Array>) => {
      answer(null, GetSystemInfoResponse.encode({}).finish());
    },
    describe: (_call: ServerUnaryCall<Buffer, Uint8Array>, answer: sendUnaryData<Uint8Array>) => {
      answer((left.length > 1 ? left.shift() : left[0]) ?? null);
    },
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve(bound);
      else reject(error);
    });
  });
  try {
    await use(`127.0.0.1:${port}`);
  } finally {
    server.forceShutdown();
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
