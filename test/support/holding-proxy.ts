import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { Transform, type TransformCallback } from 'node:stream';

/** A TCP proxy on a free loopback port that can keep the rest of an answer to itself. */
export interface HoldingProxy {
  readonly port: number;
  /** From now on, of the answer to a request whose text holds `marker`, only the first `bytes` are passed on. */
  hold(marker: string, bytes: number): void;
  /** Answers that are held back now. */
  heldCount(): number;
  /** Passes on everything that was held back, and all that comes. */
  release(): void;
  close(): Promise<void>;
}

/** Passes bytes on until its allowance is used up; what comes then waits, and so does whoever sends it. */
class Valve extends Transform {
  private allowance = Number.POSITIVE_INFINITY;
  private passHeld: (() => void) | undefined;

  get isHolding(): boolean {
    return this.passHeld !== undefined && !this.destroyed;
  }

  shutAfter(bytes: number): void {
    this.allowance = bytes;
  }

  open(): void {
    this.allowance = Number.POSITIVE_INFINITY;
    this.passHeld?.();
    this.passHeld = undefined;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const passed = chunk.subarray(0, this.allowance);
    const rest = chunk.subarray(passed.length);
    this.allowance -= passed.length;
    if (rest.length === 0) {
      done(null, passed);
      return;
    }
    if (passed.length > 0) this.push(passed);
    this.passHeld = () => {
      done(null, rest);
    };
  }
}

/** Starts a proxy in front of a server on the loopback address. */
export async function startHoldingProxy(targetPort: number): Promise<HoldingProxy> {
  const sockets = new Set<Socket>();
  const valves = new Set<Valve>();
  let rule: { readonly marker: string; readonly bytes: number } | undefined;
  const server = createServer((caller) => {
    const target = connect(targetPort, '127.0.0.1');
    const valve = new Valve();
    valves.add(valve);
    caller.on('data', (request) => {
      if (rule !== undefined && request.includes(rule.marker)) valve.shutAfter(rule.bytes);
    });
    caller.pipe(target);
    target.pipe(valve).pipe(caller);
    for (const socket of [caller, target]) {
      sockets.add(socket);
      // Either side may die at any moment: that is what the proxy is for.
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        valves.delete(valve);
        caller.destroy();
        target.destroy();
        valve.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    hold: (marker, bytes) => {
      rule = { marker, bytes };
    },
    heldCount: () => [...valves].filter(({ isHolding }) => isHolding).length,
    release: () => {
      rule = undefined;
      for (const valve of valves) valve.open();
    },
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
