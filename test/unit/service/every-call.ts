import type { ServiceClient } from '../../../src/service';

/** A call of every endpoint but the two kinds of create. */
export const readingCalls: Readonly<Record<string, (client: ServiceClient) => Promise<unknown>>> = {
  getTask: (client) => client.getTask('r-1'),
  getOutputs: (client) => client.getOutputs('r-1'),
  cancelTask: (client) => client.cancelTask('r-1'),
  interruptTask: (client) => client.interruptTask('r-1'),
  getUploadToken: (client) => client.getUploadToken('a.png'),
  commitInput: (client) => client.commitInput({ name: 'a.png', objectKey: 'k' }),
  listInputs: (client) => client.listInputs(),
  getUserMetadata: (client) => client.getUserMetadata(),
};
