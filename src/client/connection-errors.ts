import { shellWord } from '../core/text';
import { LonghaulError } from './errors';

/** What gave a client its address, namespace and credentials, as messages name it; absent: Temporal's own variables. */
export interface ConnectionSources {
  readonly address?: string;
  readonly namespace?: string;
  readonly credentials?: string;
}

interface ConnectionErrorOptions extends ErrorOptions {
  readonly sources?: ConnectionSources | undefined;
}

abstract class TemporalError extends LonghaulError {
  readonly address: string;

  constructor(address: string, words: string, options?: ErrorOptions) {
    super(`Temporal at ${address} ${words}`, options);
    this.address = address;
  }
}

/** Thrown when a request is larger than Temporal takes. Nothing was sent on. */
export class RequestTooLargeError extends LonghaulError {
  override readonly name = 'RequestTooLargeError';

  constructor(address: string, reason: string, options?: ErrorOptions) {
    super(
      `The request is larger than Temporal at ${address} takes: ${reason}. Give long texts as files, or fewer rows and names.`,
      options,
    );
  }
}

/** Thrown when Temporal does not answer: the request may or may not have been handled. */
export class TemporalUnreachableError extends TemporalError {
  override readonly name: string = 'TemporalUnreachableError';

  /** @param options - `remedy`: by default to check the server and its address. */
  constructor(
    address: string,
    reason: string,
    { remedy, sources, ...options }: ConnectionErrorOptions & { readonly remedy?: string } = {},
  ) {
    const advice = remedy ?? `Is it running, and is ${sources?.address ?? 'TEMPORAL_ADDRESS'} right?`;
    super(address, `cannot be reached: ${reason}. ${advice}`, options);
  }
}

/** Thrown when this process has closed the client's connection, also by what waited then: connect again. */
export class ClientClosedError extends TemporalUnreachableError {
  override readonly name = 'ClientClosedError';

  constructor(address: string, options: ErrorOptions = {}) {
    const remedy = 'Was close() called? Connect again.';
    super(address, 'this client’s connection is closed', { ...options, remedy });
  }
}

/** Thrown when Temporal limits requests, and the retries are used up: the request may or may not have been handled. */
export class TemporalBusyError extends TemporalError {
  override readonly name = 'TemporalBusyError';

  constructor(address: string, reason: string, options?: ErrorOptions) {
    super(address, `takes no more requests just now: ${reason}. Try again in a moment.`, options);
  }
}

/** Thrown when Temporal refuses the credentials. */
export class TemporalRefusedError extends TemporalError {
  override readonly name = 'TemporalRefusedError';

  constructor(address: string, reason: string, { sources = {}, ...options }: ConnectionErrorOptions = {}) {
    const { credentials = 'TEMPORAL_API_KEY, TEMPORAL_TLS', namespace = 'TEMPORAL_NAMESPACE' } = sources;
    super(address, `refuses access: ${reason}. Check ${credentials} and ${namespace}.`, options);
  }
}

/** Thrown when Temporal answers but does not have the namespace. */
export class NamespaceMissingError extends LonghaulError {
  override readonly name = 'NamespaceMissingError';
  readonly namespace: string;

  constructor(namespace: string, address: string, { sources, ...options }: ConnectionErrorOptions = {}) {
    super(
      `Temporal at ${address} has no namespace "${namespace}". Set ${sources?.namespace ?? 'TEMPORAL_NAMESPACE'}, or make it: temporal operator namespace create --namespace ${namespace} --retention 30d`,
      options,
    );
    this.namespace = namespace;
  }
}

/** Thrown when the namespace lacks Longhaul's search attributes: without them no task can run. */
export class SearchAttributesMissingError extends LonghaulError {
  override readonly name = 'SearchAttributesMissingError';
  readonly namespace: string;

  constructor(namespace: string, what: string, { sources, ...options }: ConnectionErrorOptions = {}) {
    // The command reads the environment, which need not have this namespace.
    const command = `${sources?.namespace === undefined ? '' : `TEMPORAL_NAMESPACE=${shellWord(namespace)} `}longhaul doctor --setup`;
    super(`The namespace "${namespace}" is not ready for Longhaul: ${what}. Run "${command}" once.`, options);
    this.namespace = namespace;
  }
}
