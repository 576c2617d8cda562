import { randomUUID } from 'node:crypto';
import { access, constants } from 'node:fs/promises';
import type { Dispatcher } from 'undici';
import type { KnownArchive, OtherArchive } from '../client/archive-of-tasks';
import type { Finding } from '../client/diagnose';
import { clockRemedy, maxClockApartMs } from '../client/server-clock';
import { type Account, serviceOptions, serviceRemedy } from '../config/accounts';
import type { CallbackConfig } from '../config/callback-config';
import type { WorkerConfig } from '../config/worker-config';
import { correlationHeader, createName } from '../contract/workflow-ids';
import { formatDuration } from '../core/time';
import { errorCode, errorMessage, formatBytes } from '../core/text';
import { ServiceClient, ServiceError } from '../service';
import { requireReserve } from '../storage/archive/archive';
import { findArchiveIdentity } from '../storage/archive/archive-identity';
import { openArchive } from '../storage/archive/open-archive';
import { anyAddress, ConnectionRule } from '../storage/connection-rule';
import { openAgent } from '../storage/connections';
import { readUploadEndpoint } from '../storage/upload-client';

const timeoutMs = 10_000;
type FindOtherArchive = (archive: KnownArchive) => Promise<OtherArchive | undefined>;

/**
 * Checks, from this machine, what a worker needs beside Temporal. Creates no task and uploads nothing.
 * @param findOther - asks Temporal whether its tasks have another archive. @default it is not asked
 */
export async function diagnoseWorkerSide(config: WorkerConfig, findOther?: FindOtherArchive): Promise<Finding[]> {
  const connections = openAgent({ connectMs: timeoutMs });
  try {
    const perAccount = [...config.accounts.values()].map((account) =>
      checkAccount(account, connections, config.storageHosts),
    );
    const [accounts, archive, roots, callback] = await Promise.all([
      Promise.all(perAccount),
      checkArchive(config, findOther),
      Promise.all(config.inputRoots.map(checkInputRoot)),
      config.callback === null ? null : checkCallback(config.callback, connections),
    ]);
    return [...accounts.flat(), ...archive, ...roots, ...(callback === null ? [] : [callback])];
  } finally {
    await connections.close();
  }
}

async function checkAccount(
  account: Account,
  connections: Dispatcher,
  storageHosts: readonly string[],
): Promise<Finding[]> {
  const { name, serviceUrl } = account;
  const service = new ServiceClient(serviceOptions(account));
  try {
    const remedy = (error: unknown): string =>
      serviceRemedy(account, error instanceof ServiceError ? error.code : undefined);
    const answered = await runCheck(`Service (account ${name})`, remedy, async () => {
      await service.getUserMetadata({ timeoutMs });
      return `${serviceUrl} answers and takes the key`;
    });
    if (!answered.isOk) return [answered];
    const rule = new ConnectionRule({ hosts: storageHosts, serviceHosts: [new URL(serviceUrl).hostname] });
    return [answered, await checkClock(serviceUrl, connections), await checkStorage(name, service, rule)];
  } finally {
    await service.close();
  }
}

async function checkClock(serviceUrl: string, connections: Dispatcher): Promise<Finding> {
  return await runCheck('Clock', clockRemedy, async () => {
    const { headers } = await send(connections, serviceUrl, { method: 'GET' });
    const theirs = Date.parse(String(headers['date']));
    if (Number.isNaN(theirs)) return 'the service sends no Date header';
    const differenceMs = Math.abs(Date.now() - theirs);
    const words = `${formatDuration(differenceMs)} apart from the service’s`;
    if (differenceMs > maxClockApartMs) throw new Error(words);
    return words;
  });
}

async function checkStorage(account: string, service: ServiceClient, rule: ConnectionRule): Promise<Finding> {
  const remedy =
    'The worker must reach the storage that the service names: ask who runs the network or the service, or name its host in LONGHAUL_STORAGE_HOSTS.';
  return await runCheck(`Object storage (account ${account})`, remedy, async () => {
    const { url, bucketHost, isConfigured } = readUploadEndpoint(
      await service.getUploadToken('doctor.png', { timeoutMs }),
      rule,
    );
    const { protocol, port } = new URL(url);
    const address = `${protocol}//${bucketHost}${port === '' ? '' : `:${port}`}/`;
    const storage = openAgent({ connectMs: timeoutMs, addresses: isConfigured ? anyAddress : rule.addresses });
    try {
      const { statusCode } = await send(storage, address, { method: 'HEAD' });
      if (statusCode >= 500) throw new Error(`${bucketHost} answers with HTTP ${statusCode}`);
    } finally {
      await storage.close();
    }
    return `${bucketHost} answers`;
  });
}

async function checkArchive(
  { archive: place, replacesArchive: replaces, outputs: { reserveBytes } }: WorkerConfig,
  findOther?: FindOtherArchive,
): Promise<Finding[]> {
  const remedy =
    place.kind === 's3'
      ? 'Point LONGHAUL_ARCHIVE at a bucket, AWS_ENDPOINT_URL_S3 at a storage that is not Amazon’s, and AWS_* at credentials that may write and list there.'
      : 'Let the worker write into the folder of LONGHAUL_ARCHIVE again (is its disk mounted, full or read-only?). Another folder is for new installations alone: it knows none of the tasks.';
  const archive = openArchive(place);
  let identity: KnownArchive['identity'] = null;
  const written = await runCheck('Archive', remedy, async () => {
    await archive.check();
    identity = await findArchiveIdentity(archive);
    return `${archive.location} can be written${identity === null ? '; it is new, and has no create record' : ''}`;
  });
  if (!written.isOk) return [written];
  const roomy = await runCheck('Archive', 'Make room there, or lower LONGHAUL_ARCHIVE_RESERVE_BYTES.', async () => {
    const freeBytes = await requireReserve(archive, reserveBytes);
    if (freeBytes === undefined) return written.found;
    const disk = place.kind === 's3' ? archive.disk : 'its disk';
    return `${written.found}; ${disk} has ${formatBytes(freeBytes)} free, and no output is fetched that would leave less than ${formatBytes(reserveBytes)}`;
  });
  const other = await findOther?.({ identity, replaces });
  return [roomy, ...(other === undefined ? [] : [{ check: 'Archive of the tasks', isOk: false, ...other }])];
}

async function checkInputRoot(path: string): Promise<Finding> {
  return await runCheck('Input root', 'Correct LONGHAUL_INPUT_ROOTS, or let the worker read the folder.', async () => {
    await access(path, constants.R_OK | constants.X_OK);
    return `${path} can be read`;
  });
}

/** What the receiver's answer to a callback with the token means, by HTTP status. */
const callbackFaults: Readonly<Record<number, string>> = {
  400: 'a header does not reach it: the proxy drops it, or the header of its LONGHAUL_SERVICE_DIALECT differs from the worker’s',
  401: 'it does not take the token: the proxy drops Authorization, or its LONGHAUL_CALLBACK_TOKEN differs from the worker’s',
  503: 'Temporal does not answer it',
};

/** Calls back for a task that does not exist, without the token and with it. */
async function checkCallback({ url, tokens, headerPrefix }: CallbackConfig, connections: Dispatcher): Promise<Finding> {
  const check = 'Callback URL (from here)';
  const [token] = tokens;
  const callBack = async (headers: Readonly<Record<string, string>>): Promise<number> => {
    const body = '{"request_id":"none","status":"Success"}';
    return (await send(connections, url, { method: 'POST', headers, body })).statusCode;
  };
  const remedy = 'Start "longhaul receiver" behind LONGHAUL_CALLBACK_URL; the service must reach that address, too.';
  const there = await runCheck(check, remedy, async () => {
    const status = await callBack({});
    if (status !== 401) throw new Error(`${url} answers with HTTP ${status}, which is not the receiver’s answer`);
    return `the receiver answers at ${url}`;
  });
  if (!there.isOk || token === undefined) return there;
  return await runCheck(check, 'See docs/guides/callbacks.md, “Try it from outside”.', async () => {
    const create = createName(`task:longhaul-doctor-${randomUUID()}`, 1);
    const authorization = `Bearer ${token.reveal()}`;
    const status = await callBack({ authorization, [correlationHeader(headerPrefix)]: create });
    if (status === 404) return `${there.found} and takes the token`;
    throw new Error(`${url} answers with HTTP ${status}: ${callbackFaults[status] ?? 'not as the receiver does'}`);
  });
}

async function send(
  connections: Dispatcher,
  url: string,
  options: Pick<Dispatcher.RequestOptions, 'method' | 'headers' | 'body'>,
): Promise<Dispatcher.ResponseData> {
  const { origin, pathname, search } = new URL(url);
  const signal = AbortSignal.timeout(timeoutMs);
  const response = await connections.request({ ...options, origin, path: `${pathname}${search}`, signal });
  await response.body.dump();
  return response;
}

/** Errors of the service client and the storage hold no secret and may be shown. */
async function runCheck(
  check: string,
  remedy: string | ((error: unknown) => string),
  probe: () => Promise<string>,
): Promise<Finding> {
  try {
    return { check, isOk: true, found: await probe(), remedy: null };
  } catch (error) {
    const isUntrusted = hasUnknownAuthority(error);
    const own = typeof remedy === 'string' ? remedy : remedy(error);
    return { check, isOk: false, found: errorMessage(error), remedy: isUntrusted ? trustRemedy : own };
  }
}

const unknownAuthority = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
];

/** Whether an error, or its cause, is a certificate that no known authority signed. */
function hasUnknownAuthority(error: unknown, depth = 0): boolean {
  if (depth > 5 || typeof error !== 'object' || error === null) return false;
  return (
    unknownAuthority.includes(errorCode(error)) || ('cause' in error && hasUnknownAuthority(error.cause, depth + 1))
  );
}

const trustRemedy =
  'No authority that is known here signed that certificate: name the file with the certificate of the one that did (PEM) in NODE_EXTRA_CA_CERTS of the worker and of this command.';
