import { addressHost } from '../core/uri';
import { extname } from 'node:path';
import { showValue } from '../core/text';
import type { ConnectionRule } from '../storage/connection-rule';
import { hashOpenFile, type Measure } from '../storage/hash';
import type { OpenedSource } from '../storage/input/input-source';
import type { MinimumRate } from '../storage/minimum-rate';
import { lookUpContentType } from '../storage/local-file';
import { uploadInput } from '../storage/upload';
import { ServiceResponseInvalidError } from './errors';
import type { InputResource, InputResourcePage, UploadedObject } from './input-resource';
import type { UploadToken } from './upload-token';

/** What an upload asks of the service; a `ServiceClient` is one. */
export interface UploadService {
  getUploadToken(fileName: string, options?: Abortable): Promise<UploadToken>;
  commitInput(object: UploadedObject, options?: Abortable): Promise<InputResource>;
  listInputs(filter: { readonly objectKey: string }, options?: Abortable): Promise<InputResourcePage>;
}

interface Abortable {
  readonly signal?: AbortSignal;
}

/** How an open file is uploaded. */
export interface UploadOptions {
  /** Where the endpoint of the token may be. */
  readonly rule: ConnectionRule;
  readonly signal?: AbortSignal;
  /** Called often, with the bytes sent so far. */
  readonly onProgress?: (bytes: number) => void;
  /** The least rate; slower uploads are given up. Absent: any. */
  readonly minimumRate?: MinimumRate | undefined;
  /** Wraps the transfer to this host, such as to trace it. */
  readonly transfer?: <Result>(host: string, send: () => Promise<Result>) => Promise<Result>;
}

/** What this process uploaded under which key: its SHA-256 in hex, or null while it is on its way. The oldest are forgotten. */
const uploadedAt = new Map<string, string | null>();
const maxRemembered = 10_000;

/** Takes a fresh token and puts the file where it says (section 4.6). Throws ServiceError, also for a token of another file, or UploadError. */
export async function uploadWithFreshToken(
  service: Pick<UploadService, 'getUploadToken'>,
  { name, file, sizeBytes, contentType }: OpenedSource,
  { transfer = (_host, send) => send(), ...options }: UploadOptions,
): Promise<UploadedObject & Measure> {
  const { signal } = options;
  const token = await service.getUploadToken(name, { signal });
  const { objectKey } = token;
  if (extname(objectKey) !== '' && lookUpContentType(objectKey) !== lookUpContentType(name)) {
    throw foreignToken(name, `${showValue(objectKey)}, a file of another type`);
  }
  const place = JSON.stringify([token.endpoint, token.bucket, objectKey]);
  const before = uploadedAt.get(place);
  // A reply that a cache gave twice would put one task's input in the place of another's.
  if (before !== undefined && before !== (await hashOpenFile(file, sizeBytes, signal)).sha256) {
    throw foreignToken(name, `${showValue(objectKey)}, where another file was uploaded`);
  }
  if (before === undefined) uploadedAt.set(place, null);
  try {
    const send = () => uploadInput({ ...options, token, file, sizeBytes, contentType });
    const uploaded = await transfer(addressHost(token.endpoint), send);
    uploadedAt.set(place, uploaded.sha256);
    return { objectKey, name, ...uploaded };
  } catch (error) {
    if (before === undefined) uploadedAt.delete(place);
    throw error;
  } finally {
    const [oldest] = uploadedAt.keys();
    if (uploadedAt.size > maxRemembered && oldest !== undefined) uploadedAt.delete(oldest);
  }
}

function foreignToken(name: string, given: string): ServiceResponseInvalidError {
  const message = `get upload credentials: the reply for ${showValue(name)} names the object ${given}`;
  return new ServiceResponseInvalidError(message, { httpStatus: 200 });
}
