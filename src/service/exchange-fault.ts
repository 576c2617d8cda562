import { errorCode, errorMessage, safeText } from '../domain/text';

/** Why an exchange did not bring a whole reply. */
export type FaultKind = 'unreachable' | 'timeout' | 'aborted' | 'notHttp' | 'tooLarge';

/** What ended an exchange before a whole reply was there, in words that may be shown. */
export class ExchangeFault extends Error {
  readonly kind: FaultKind;

  constructor(kind: FaultKind, words: string, options?: ErrorOptions) {
    super(words, options);
    this.name = 'ExchangeFault';
    this.kind = kind;
  }
}

const words: Readonly<Record<string, string>> = {
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name could not be resolved',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was reset',
  UND_ERR_SOCKET: 'the connection was closed before the reply was complete',
  ETIMEDOUT: 'no connection could be made in time',
  UND_ERR_CONNECT_TIMEOUT: 'no connection could be made in time',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
};
const tlsCode = /^(EPROTO$|ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_MISMATCH)/;
const protocolCode = /^(HPE_|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES_CONTENT_LENGTH_MISMATCH)/;

/**
 * Reads a network error of undici or Node. Its message is kept as `cause`, made safe; its other properties are not,
 * since a parser's error carries the bytes that it choked on.
 */
export function toExchangeFault(error: unknown): ExchangeFault {
  const code = exchangeCode(error);
  const kind = protocolCode.test(code) ? 'notHttp' : 'unreachable';
  return new ExchangeFault(kind, `${inWords(code)}${code === '' ? '' : ` (${code})`}`, {
    cause: safeCopy(error, code),
  });
}

function inWords(code: string): string {
  if (tlsCode.test(code)) return 'the TLS connection failed';
  if (protocolCode.test(code)) return 'the reply is not HTTP';
  return words[code] ?? 'the connection failed';
}

function exchangeCode(error: unknown): string {
  const code = errorCode(error);
  // undici's parser gives no code for what llhttp has no name for.
  return code === '' && error instanceof Error && error.name === 'HTTPParserError' ? 'HPE_INVALID' : code;
}

function safeCopy(error: unknown, code: string): Error {
  const copy = new Error(safeText(errorMessage(error)));
  copy.name = error instanceof Error ? error.name : 'Error';
  return Object.assign(copy, code === '' ? {} : { code });
}
