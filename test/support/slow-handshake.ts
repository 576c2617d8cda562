import { once } from 'node:events';
import { connect } from 'node:net';
import { Worker } from 'node:worker_threads';

/** Takes no connection for a while, then answers every request with 200. */
const script = `
const { createServer } = require('node:http');
const { parentPort } = require('node:worker_threads');
const server = createServer((_request, response) => response.end('late'));
server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
  parentPort.postMessage(server.address().port);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 900);
});`;

/**
 * Starts a server on 127.0.0.1 whose handshake takes a second: the first packet of a connection is lost, as its queue is
 * full, and is sent again after a second.
 */
export async function startSlowHandshake(): Promise<{ readonly port: number; readonly close: () => Promise<void> }> {
  const worker = new Worker(script, { eval: true });
  const [port] = (await once(worker, 'message')) as [number];
  const fillers = Array.from({ length: 4 }, () => connect({ host: '127.0.0.1', port }).on('error', () => undefined));
  await once(fillers[0] ?? worker, 'connect');
  return {
    port,
    close: async () => {
      for (const filler of fillers) filler.destroy();
      await worker.terminate();
    },
  };
}
