import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls';
import type { TemporalConnection } from '../config/temporal-connection';
import { errorCode, errorMessage } from '../domain/text';

/** How long a host may take to answer. */
const answerMs = 3_000;
/** A server that wants a client certificate says so after the handshake (TLS 1.3). */
const objectionMs = 500;

const unknownAuthority = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
];

const maxCauses = 5;

/** The code of a certificate that no known authority signed, of an error or of what caused it. */
export function unknownAuthorityCode(error: unknown): string | undefined {
  let fault = error;
  for (let depth = 0; depth <= maxCauses; depth += 1) {
    const code = errorCode(fault);
    if (unknownAuthority.includes(code)) return code;
    if (typeof fault !== 'object' || fault === null || !('cause' in fault)) return undefined;
    fault = fault.cause;
  }
  return undefined;
}

/** Why Temporal is not reached. */
export interface ConnectionProblem {
  readonly reason: string;
  /** Undefined when there is none but to check the server and its address. */
  readonly remedy?: string;
}

/**
 * Why a connection to Temporal does not come about, with the variable to set, found out by connecting once more without
 * gRPC, whose own errors do not tell. Null when that shows nothing wrong.
 */
export async function connectionProblem({
  address,
  connectionOptions,
}: TemporalConnection): Promise<ConnectionProblem | null> {
  const { host, port } = splitAddress(address);
  const tls = tlsOptions(connectionOptions);
  try {
    await opened(() => connectTcp({ host, port }), 'connect');
  } catch (error) {
    return tcpProblem(host, error);
  }
  const options: ConnectionOptions = { host, port, ALPNProtocols: ['h2'] };
  if (tls === undefined) {
    const speaksTls = opened(() => connectTls({ ...options, rejectUnauthorized: false }), 'secureConnect').then(
      () => true,
      (error: unknown) => /alert/i.test(errorCode(error)),
    );
    // At once: where nothing answers, each takes its whole time.
    const [isTls, isHttp] = await Promise.all([speaksTls, speaksHttpOnly(host, port)]);
    if (!isTls) return isHttp ? httpProblem : null;
    return { reason: 'it speaks TLS, and none is configured', remedy: 'Set TEMPORAL_TLS=true, or TEMPORAL_API_KEY.' };
  }
  try {
    // A name of the certificate: an IP address cannot be one that is asked for.
    const servername = tls.serverNameOverride ?? (isIP(host) === 0 ? host : '');
    const { serverRootCACertificate: ca, clientCertPair: own } = tls;
    const trusted = ca === undefined ? {} : { ca: Buffer.from(ca) };
    const client = own === undefined ? {} : { cert: Buffer.from(own.crt), key: Buffer.from(own.key) };
    await opened(() => connectTls({ ...options, servername, ...trusted, ...client }), 'secureConnect', objectionMs);
    return null;
  } catch (error) {
    return tlsProblem(error);
  }
}

type TlsOptions = Exclude<TemporalConnection['connectionOptions']['tls'], boolean | null | undefined>;

/** As the SDK reads them: an API key turns TLS on unless it is turned off. */
function tlsOptions({ tls, apiKey }: TemporalConnection['connectionOptions']): TlsOptions | undefined {
  if (typeof tls === 'object' && tls !== null) return tls;
  return tls === true || (tls === undefined && apiKey !== undefined) ? {} : undefined;
}

function splitAddress(address: string): { host: string; port: number } {
  const { hostname, port } = new URL(`tcp://${address}`);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) };
}

/** Resolves once the socket is open and nothing has been objected for `quietMs`; it is closed in any case. */
async function opened(open: () => Socket | TLSSocket, event: string, quietMs = 0): Promise<void> {
  const socket = open();
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      timer = setTimeout(() => {
        reject(Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' }));
      }, answerMs);
      socket.on('error', reject);
      socket.once('close', () => {
        reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' }));
      });
      socket.once(event, () => {
        if (quietMs === 0) resolve();
        else setTimeout(resolve, quietMs);
      });
    });
  } finally {
    clearTimeout(timer);
    socket.on('error', () => undefined);
    socket.destroy();
  }
}

const httpProblem: ConnectionProblem = {
  reason: 'what listens there speaks HTTP/1.1, not gRPC',
  remedy: 'Give the address of Temporal’s gRPC port (7233 unless it is set up otherwise), not that of its Web UI.',
};

/** What a client of HTTP/2, and so of gRPC, sends first. */
const http2Preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';

/** Whether a server answers HTTP/2 in HTTP/1, as Temporal's Web UI does; one that takes both is none. */
async function speaksHttpOnly(host: string, port: number): Promise<boolean> {
  const socket = connectTcp({ host, port });
  socket.setTimeout(answerMs, () => socket.destroy());
  socket.write(http2Preface);
  try {
    for await (const chunk of socket) return String(chunk).startsWith('HTTP/1.');
  } catch {
    // It does not answer, or closes the connection.
  }
  return false;
}

/** Why a port that refuses connections is not reached, in the same words wherever that shows. */
export const refusedWords = 'nothing listens there (ECONNREFUSED)';

function tcpProblem(host: string, error: unknown): ConnectionProblem {
  const code = errorCode(error);
  if (/^(ENOTFOUND|EAI_)/.test(code)) return { reason: `the host name ${host} does not resolve (${code})` };
  if (code === 'ECONNREFUSED') return { reason: refusedWords };
  return { reason: code === 'ETIMEDOUT' ? 'it does not answer' : errorMessage(error) };
}

function tlsProblem(error: unknown): ConnectionProblem {
  const code = errorCode(error);
  const words = errorMessage(error);
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return {
      reason: `its certificate is for another name (${words})`,
      remedy: 'Set TEMPORAL_TLS_SERVER_NAME to a name of the certificate, or use one in TEMPORAL_ADDRESS.',
    };
  }
  if (unknownAuthority.includes(code)) {
    return {
      reason: `no known authority signed its certificate (${code})`,
      remedy: 'Name the certificate of the one that did in TEMPORAL_TLS_SERVER_CA_CERT_PATH.',
    };
  }
  if (code.startsWith('CERT_')) return { reason: `its certificate cannot be used (${code})` };
  if (code.includes('ALERT')) {
    return {
      reason: `it does not accept this client (${code})`,
      remedy:
        'For mTLS set TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH to a certificate that it knows and its key.',
    };
  }
  return {
    reason: `it does not speak TLS (${code === '' ? words : code}), which is configured`,
    remedy:
      'TEMPORAL_TLS, TEMPORAL_API_KEY and each TEMPORAL_TLS_… turn TLS on: set TEMPORAL_TLS=false, or the address of a port with TLS.',
  };
}
