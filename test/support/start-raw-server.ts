import { createServer, type AddressInfo, type Socket } from 'node:net';

/** A TCP server on a free loopback port, for what no HTTP server would ever do. */
export interface RawServer {
  readonly port: number;
  readonly url: string;
  readonly received: () => string;
  readonly connectionCount: () => number;
  readonly openCount: () => number;
  readonly close: () => Promise<void>;
}

export interface RawBehaviour {
  readonly onConnection?: (socket: Socket) => void;
  /** Called for the first bytes of each connection. */
  readonly onFirstBytes?: (socket: Socket) => void;
}

/** Starts a TCP server that behaves as told; without `onFirstBytes` it reads and never answers. */
export async function startRawServer({ onConnection, onFirstBytes }: RawBehaviour): Promise<RawServer> {
  const chunks: Buffer[] = [];
  const sockets = new Set<Socket>();
  let connectionCount = 0;
  const server = createServer((socket) => {
    connectionCount += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => chunks.push(Buffer.from(chunk)));
    socket.once('data', () => onFirstBytes?.(socket));
    onConnection?.(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    received: () => Buffer.concat(chunks).toString('utf8'),
    connectionCount: () => connectionCount,
    openCount: () => sockets.size,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
      });
    },
  };
}
