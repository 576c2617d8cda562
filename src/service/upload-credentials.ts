import { addressHost } from '../domain/uri';
import type { ConnectionRule } from '../storage/connection-rule';
import type { Measure } from '../storage/hash';
import type { OpenedSource } from '../storage/input/input-source';
import type { MinimumRate } from '../storage/minimum-rate';
import { uploadInput } from '../storage/upload';
import type { InputResource, InputResourcePage } from './input-resource';
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

/** An object that was uploaded with the credentials of a token. */
export interface UploadedObject {
  readonly objectKey: string;
  /** The original file name. */
  readonly name: string;
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

/**
 * Takes a fresh token, whose temporary credentials are used for this attempt alone, and puts the file where it says
 * (specification, section 4.6). What an attempt that failed has uploaded costs nothing; another one takes another token,
 * and so another key.
 *
 * @throws ServiceError, UploadError, or the abort reason of the signal.
 */
export async function uploadWithFreshToken(
  service: Pick<UploadService, 'getUploadToken'>,
  { name, file, sizeBytes, contentType }: OpenedSource,
  { transfer = (_host, send) => send(), ...options }: UploadOptions,
): Promise<UploadedObject & Measure> {
  const { signal } = options;
  const token = await service.getUploadToken(name, signal === undefined ? {} : { signal });
  const send = () => uploadInput({ ...options, token, file, sizeBytes, contentType });
  const uploaded = await transfer(addressHost(token.endpoint), send);
  return { objectKey: token.objectKey, name, ...uploaded };
}
