import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { InjectedFault, type InjectedFaultOptions } from './injected-fault';
import { FaultyConnection, type NetworkFault } from './faulty-connection';

/** A TCP proxy on a free loopback port, in front of a server there, that breaks what passes through it. */
export class FaultProxy {
  readonly port: number;
  readonly #server: Server;
  readonly #connections = new Set<FaultyConnection>();
  readonly #faults = new Set<InjectedFault>();
  #isSilent = false;

  private constructor(server: Server, targetPort: () => number) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', (caller) => {
      const connection = new FaultyConnection(caller, targetPort(), (request) => this.#meet(request));
      this.#connections.add(connection);
      if (this.#isSilent) connection.hold();
      caller.once('close', () => this.#connections.delete(connection));
    });
  }

  /** @param targetPort - asked at each connection, where the server needs to know of the proxy before it starts. */
  static async start(targetPort: number | (() => number)): Promise<FaultProxy> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new FaultProxy(server, typeof targetPort === 'number' ? () => targetPort : targetPort);
  }

  /** Lets a fault wait for its requests; each is met by the oldest injected fault that fits. */
  inject(options: InjectedFaultOptions): InjectedFault {
    const injected = new InjectedFault(options);
    this.#faults.add(injected);
    return injected;
  }

  /** Answers, and uploads, that are held back now. */
  heldCount(): number {
    return [...this.#connections].filter(({ isHolding }) => isHolding).length;
  }

  /** As if packets were lost: connections stay open and are accepted, and nothing passes either way until `release`. */
  silence(): void {
    this.#isSilent = true;
    for (const connection of this.#connections) connection.hold();
  }

  /** Forgets every injected fault, and passes on everything that was held back. */
  release(): void {
    this.#faults.clear();
    this.#isSilent = false;
    for (const connection of this.#connections) connection.release();
  }

  /** Every connection that is open now ends with an RST. */
  resetAll(): void {
    for (const connection of this.#connections) connection.reset();
  }

  /** As if the server were gone: connections are refused, and those that are open are cut. */
  async refuse(): Promise<void> {
    if (!this.#server.listening) return;
    for (const connection of this.#connections) connection.cut();
    const closed = once(this.#server, 'close');
    this.#server.close();
    await closed;
  }

  /** Ends {@link refuse}: the server is there again, at the same port. */
  async accept(): Promise<void> {
    if (this.#server.listening) return;
    this.#server.listen(this.port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  async close(): Promise<void> {
    await this.refuse();
  }

  #meet(request: string): NetworkFault | undefined {
    for (const injected of this.#faults) {
      if (injected.isOver) this.#faults.delete(injected);
      const fault = injected.take(request);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }
}
