import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { freePorts } from '../../../tools/free-port';
import { ServerStartError, onFreshPorts, untilReady } from '../../../tools/start-server';
import { supervise } from '../../../tools/supervise';
import type { SupervisedProcess } from '../../../tools/supervise';

const listenOn = (port: number): string =>
  `require('node:http').createServer((_, response) => response.end()).listen(${port}, '127.0.0.1')`;

describe('starting a server', () => {
  let occupant: Server;
  let takenPort: number;
  const started: SupervisedProcess[] = [];

  beforeEach(async () => {
    // Takes requests and never answers.
    occupant = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(occupant, 'listening');
    takenPort = (occupant.address() as { port: number }).port;
  });
  afterEach(async () => {
    await Promise.all(started.splice(0).map((server) => server.stop()));
    occupant.closeAllConnections();
    await once(occupant.close(), 'close');
  });

  const startOn = async (port: number): Promise<number> => {
    const server = await supervise({ command: process.execPath, args: ['-e', listenOn(port)] });
    started.push(server);
    await untilReady(server, {
      name: 'The server',
      probe: async (signal) => (await fetch(`http://127.0.0.1:${port}`, { signal })).ok,
    });
    return port;
  };

  it('picks other ports when one was taken in the meantime', async () => {
    const [freePort = 0] = await freePorts(1);
    const ports = [takenPort, takenPort, freePort];
    const tried: number[] = [];
    const port = await onFreshPorts(() => {
      tried.push(ports[tried.length]!);
      return startOn(tried.at(-1)!);
    });
    expect(port).toBe(freePort);
    expect(tried).toEqual(ports);
  });

  it('gives up on ports that are always taken, with the server’s words', async () => {
    let attempts = 0;
    const starting = onFreshPorts(() => {
      attempts += 1;
      return startOn(takenPort);
    }, 2);
    await expect(starting).rejects.toThrow(/The server ended at its start with code 1[^]*EADDRINUSE/);
    expect(attempts).toBe(2);
  });

  it('does not repeat a start that failed for another reason', async () => {
    let attempts = 0;
    const starting = onFreshPorts(async () => {
      attempts += 1;
      const server = await supervise({ command: 'sh', args: ['-c', 'echo no disk; exit 4'] });
      await untilReady(server, { name: 'The server', probe: () => Promise.resolve(false) });
    });
    await expect(starting).rejects.toThrow('The server ended at its start with code 4. Its last lines:\nno disk');
    expect(attempts).toBe(1);
  });

  it('stops a server that does not answer in time', async () => {
    const server = await supervise({ command: 'sh', args: ['-c', 'echo thinking; sleep 1000'] });
    const waiting = untilReady(server, { name: 'The server', probe: () => Promise.resolve(false), withinMs: 300 });
    await expect(waiting).rejects.toThrow(ServerStartError);
    await expect(waiting).rejects.toThrow(/did not answer within 0.3 s[^]*thinking/);
    expect(server.isRunning()).toBe(false);
  });
});
