import { type sendUnaryData, Server, ServerCredentials, type ServerUnaryCall } from '@grpc/grpc-js';
import { temporal } from '@temporalio/proto';

const { GetSystemInfoResponse } = temporal.api.workflowservice.v1;

type Handler = (call: ServerUnaryCall<Buffer, Uint8Array>, answer: sendUnaryData<Uint8Array>) => void;

/**
 * A gRPC server to which a client of Temporal connects, and of whose service one method answers as a test says: for faults
 * that a real server does not show.
 *
 * @param name - of the method, such as `DescribeWorkflowExecution`.
 */
export async function startOneMethodServer(
  name: string,
  handle: Handler,
): Promise<{ readonly port: number; stop(): void }> {
  const server = new Server();
  const bytes = (message: Uint8Array): Buffer => Buffer.from(message);
  const method = (of: string): object => ({
    path: `/temporal.api.workflowservice.v1.WorkflowService/${of}`,
    ...{ requestStream: false, responseStream: false, requestSerialize: bytes, requestDeserialize: bytes },
    ...{ responseSerialize: bytes, responseDeserialize: bytes },
  });
  const getSystemInfo: Handler = (_call, answer) => {
    answer(null, GetSystemInfoResponse.encode({}).finish());
  };
  const service = { getSystemInfo: method('GetSystemInfo'), handle: method(name) };
  server.addService(service as never, { getSystemInfo, handle });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve(bound);
      else reject(error);
    });
  });
  return {
    port,
    stop: () => {
      server.forceShutdown();
    },
  };
}
