import { createServer, type AddressInfo, type Socket } from 'node:net';
import { readRequests, type RogueRequest } from './http-connection';
import { sendReply, type HonestReply, type ReplyChange } from './wire-reply';

export interface RogueAnswer {
  readonly reply: HonestReply;
  readonly change?: ReplyChange | undefined;
}

export interface RogueServer {
  readonly port: number;
  readonly close: () => Promise<void>;
}

/** Starts a server on a free loopback port that may answer anything at all. */
export async function startRogueServer(answer: (request: RogueRequest) => RogueAnswer): Promise<RogueServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    readRequests(socket, async (request) => {
      const { reply, change } = answer(request);
      await sendReply(socket, reply, change);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
