import { realpath } from 'node:fs/promises';
import { dirname, extname } from 'node:path';
import { Readable } from 'node:stream';
import { showValue } from '../core/text';
import { addressHost } from '../core/uri';
import type { ConnectionRule } from '../storage/connection-rule';
import { hashOpenFile, type Measure } from '../storage/hash';
import { openFolderSource } from '../storage/input/folder-source';
import { createFail, maxFileBytes, type OpenedSource, plainFileName, spoolSource } from '../storage/input/input-source';
import { lookUpContentType } from '../storage/local-file';
import type { MinimumRate } from '../storage/minimum-rate';
import { spoolFolder } from '../storage/spool';
import { uploadInput } from '../storage/upload';
import type { UploadToken } from '../storage/upload-client';
import { ServiceArgumentError, ServiceResponseInvalidError } from './errors';
import { type InputResource, type InputResourcePage, resourceOfUpload, type UploadedObject } from './inputs';

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
  readonly minimumRate?: MinimumRate;
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

/** Makes an uploaded object an input resource (section 4.7); one that may be committed already is looked up in the list first. */
export async function commitObject(
  service: Pick<UploadService, 'commitInput' | 'listInputs'>,
  object: UploadedObject,
  { mayBeCommitted, signal }: { readonly mayBeCommitted: boolean; readonly signal?: AbortSignal },
): Promise<InputResource> {
  if (mayBeCommitted) {
    const committed = resourceOfUpload(await service.listInputs({ objectKey: object.objectKey }, { signal }), object);
    if (committed !== undefined) return committed;
  }
  return await service.commitInput(object, { signal });
}

/** What can be uploaded: the path of a file, its bytes, or a stream of them. */
export type UploadSource = string | Uint8Array | Readable;

/** Options of `ServiceClient.uploadFile`. */
export interface UploadFileOptions {
  /** The file name that the service derives extension and content type from. @default the path's own; else required */
  readonly name?: string;
  readonly signal?: AbortSignal;
  /** Called often, with the bytes sent so far. */
  readonly onProgress?: (bytes: number) => void;
}

/** A file that is uploaded and committed. */
export interface UploadedFile extends InputResource {
  /** Key of its object, by which `listInputs` finds it again. */
  readonly objectKey: string;
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
}

/** See `ServiceClient.uploadFile`. */
export async function uploadFile(
  service: UploadService,
  source: UploadSource,
  { name, ...options }: UploadFileOptions & Pick<UploadOptions, 'rule'>,
): Promise<UploadedFile> {
  const { signal } = options;
  if (signal?.aborted === true && source instanceof Readable) source.destroy();
  signal?.throwIfAborted();
  const opened = await openUpload(source, name, signal);
  try {
    // A link may lead to a file of another name.
    const problems = uploadNameProblems(source, name ?? opened.name);
    if (problems.length > 0) throw new ServiceArgumentError(...problems);
    const named = name === undefined ? opened : { ...opened, name, contentType: lookUpContentType(name) };
    const { objectKey, bytes, sha256 } = await uploadWithFreshToken(service, named, options);
    const resource = await service.commitInput({ name: named.name, objectKey }, { signal });
    return { ...resource, objectKey, bytes, sha256 };
  } finally {
    await opened.release();
  }
}

/** The problem of a name that no file can have, or that bytes lack. */
export function uploadNameProblems(source: unknown, name: unknown): readonly string[] {
  const isContent = source instanceof Uint8Array || source instanceof Readable;
  // The service derives a file's type from the extension of its name, which belongs to it (specification, section 4.6).
  const isName = typeof name === 'string' && plainFileName(name) === name && extname(name).length > 1;
  if (name === undefined ? !isContent : isName) return [];
  const shown = name === undefined ? 'missing' : showValue(name);
  return [`name is ${shown}; give a file name without folders and with its extension, such as "photo.png".`];
}

async function openUpload(source: UploadSource, name = '', signal?: AbortSignal): Promise<OpenedSource> {
  if (typeof source !== 'string') {
    // Into a temporary file: the storage wants to know the size first, and a part may have to be sent again.
    const content = source instanceof Readable ? source : Readable.from([source]);
    const rules = { maxBytes: maxFileBytes, spoolFolder: spoolFolder() };
    return await spoolSource(content, { name, signal, fail: createFail(name), rules });
  }
  const real = await realpath(source).catch((error: unknown) => {
    throw createFail(source)('NOT_FOUND', 'cannot be found', 'give the path of a file', error);
  });
  return await openFolderSource(real, { inputRoots: [dirname(real)], maxBytes: maxFileBytes });
}
