import { connect, type Socket } from 'node:net';
import { Valve } from './valve';

/** What befalls one request and its answer. */
export type NetworkFault =
  /** The caller gets an RST, and nothing of the request reaches the server. */
  | { readonly kind: 'resetBefore' }
  /** The server has the whole request and answers it; its caller gets an RST instead. */
  | { readonly kind: 'resetAfter' }
  /** The proxy gives this answer, as it stands on the wire; nothing reaches the server. */
  | { readonly kind: 'answer'; readonly text: string }
  /** Of the answer, the first bytes arrive; then the connection ends. */
  | { readonly kind: 'cutAnswer'; readonly afterBytes: number }
  /** Of the answer, the first bytes arrive; the rest is held back until `release`. */
  | { readonly kind: 'holdAnswer'; readonly afterBytes: number }
  /** Of the request, the first bytes reach the server; the rest is held back until `release`. */
  | { readonly kind: 'holdRequest'; readonly afterBytes: number }
  /** The answer begins to arrive so much later. */
  | { readonly kind: 'delayAnswer'; readonly ms: number };

/** So much of a request is looked at. */
const readBytes = 64 * 1024;

/** One connection through the proxy. HTTP without pipelining: what comes after an answer is the next request. */
export class FaultyConnection {
  readonly #caller: Socket;
  readonly #target: Socket;
  readonly #meet: (request: string) => NetworkFault | undefined;
  readonly #toServer = new Valve();
  readonly #toCaller = new Valve();
  #request = '';
  #isAnswered = false;
  #fault: NetworkFault | undefined;

  /** @param meet - the fault for a request, as far as it has come; asked until there is one. */
  constructor(caller: Socket, targetPort: number, meet: (request: string) => NetworkFault | undefined) {
    this.#caller = caller;
    this.#target = connect(targetPort, '127.0.0.1');
    this.#meet = meet;
    caller.on('data', (chunk) => {
      this.#pass(chunk);
    });
    caller.on('end', () => this.#toServer.end());
    this.#toServer.pipe(this.#target);
    this.#target.on('data', () => {
      this.#isAnswered = true;
      if (this.#fault?.kind === 'resetAfter') this.reset();
    });
    this.#target.pipe(this.#toCaller).pipe(caller);
    for (const stream of [caller, this.#target, this.#toServer, this.#toCaller]) {
      // Either side may die at any moment: that is what the proxy is for.
      stream.on('error', () => undefined);
      stream.on('close', () => {
        // What a server sent before it closed still arrives.
        const isEnding = stream === this.#target && this.#target.readableEnded && !this.isHolding;
        if ((stream === caller || stream === this.#target) && !isEnding) this.cut();
      });
    }
  }

  get isHolding(): boolean {
    return this.#toServer.isHolding || this.#toCaller.isHolding;
  }

  /** Holds back what comes from either side. */
  hold(): void {
    this.#toServer.shutAfter(0);
    this.#toCaller.shutAfter(0);
  }

  /** Passes on what is held back. */
  release(): void {
    this.#toServer.open();
    this.#toCaller.open();
  }

  /** Ends it with an RST towards its caller. */
  reset(): void {
    this.#caller.resetAndDestroy();
  }

  /** Ends it, as a process that dies ends its connections. */
  cut(): void {
    for (const stream of [this.#caller, this.#target, this.#toServer, this.#toCaller]) stream.destroy();
  }

  #pass(chunk: Buffer): void {
    if (this.#isAnswered) this.#beginRequest();
    if (this.#fault === undefined && this.#request.length < readBytes) {
      this.#request += chunk.toString('latin1');
      this.#fault = this.#meet(this.#request);
      if (this.#fault !== undefined) this.#befall(this.#fault);
    }
    const isKeptFromServer = this.#fault?.kind === 'resetBefore' || this.#fault?.kind === 'answer';
    if (isKeptFromServer || this.#toServer.destroyed || this.#toServer.write(chunk)) return;
    this.#caller.pause();
    this.#toServer.once('drain', () => this.#caller.resume());
  }

  #beginRequest(): void {
    this.#request = '';
    this.#isAnswered = false;
    this.#fault = undefined;
  }

  #befall(fault: NetworkFault): void {
    switch (fault.kind) {
      case 'resetBefore':
        this.reset();
        break;
      case 'resetAfter':
        break;
      case 'answer':
        this.#caller.end(fault.text);
        break;
      case 'cutAnswer':
        this.#toCaller.shutAfter(fault.afterBytes, () => {
          // What was let through is on its way first.
          setImmediate(() => {
            this.#caller.destroySoon();
          });
        });
        break;
      case 'holdAnswer':
        this.#toCaller.shutAfter(fault.afterBytes);
        break;
      case 'holdRequest':
        this.#toServer.shutAfter(fault.afterBytes);
        break;
      case 'delayAnswer':
        this.#toCaller.shutAfter(0, () => {
          setTimeout(() => {
            this.#toCaller.open();
          }, fault.ms).unref();
        });
        break;
    }
  }
}
