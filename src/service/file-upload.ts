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

export interface UploadService {
  getUploadToken(fileName: string, options?: Abortable): Promise<UploadToken>;
  commitInput(object: UploadedObject, options?: Abortable): Promise<InputResource>;
  listInputs(filter: { readonly objectKey: string }, options?: Abortable): Promise<InputResourcePage>;
}

interface Abortable {
  readonly signal?: AbortSignal;
}

export interface UploadOptions {
  readonly rule: ConnectionRule;
  readonly signal?: AbortSignal;
  readonly onProgress?: (bytes: number) => void;
  /** Slower uploads are given up. Absent: any rate. */
  readonly minimumRate?: MinimumRate;
  readonly transfer?: <Result>(host: string, send: () => Promise<Result>) => Promise<Result>;
}

/** SHA-256 in hex by key of what this process uploaded; null while in flight. The oldest are forgotten. */
const uploadedAt = new Map<string, string | null>();
const maxRemembered = 10_000;

/** Uploads with a fresh token (section 4.6). Throws ServiceError, also for a token of another file, or UploadError. */
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
  // A token that a cache gave twice would replace one task's input with another's.
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

/** Commits an uploaded object (section 4.7); one that may be committed already is looked up first. */
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

/** The path of a file, its bytes, or a stream of them. */
export type UploadSource = string | Uint8Array | Readable;

/** Options of `ServiceClient.uploadFile`. */
export interface UploadFileOptions {
  /** The file name, which gives extension and content type. @default the path's own; else required */
  readonly name?: string;
  readonly signal?: AbortSignal;
  /** Called often, with the bytes sent so far. */
  readonly onProgress?: (bytes: number) => void;
}

/** A file that is uploaded and committed. */
export interface UploadedFile extends InputResource {
  /** Key of its object, by which `listInputs` finds it. */
  readonly objectKey: string;
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
}

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

export function uploadNameProblems(source: unknown, name: unknown): readonly string[] {
  const isContent = source instanceof Uint8Array || source instanceof Readable;
  // The service derives a file's type from its extension, which is part of the name (specification, section 4.6).
  const isName = typeof name === 'string' && plainFileName(name) === name && extname(name).length > 1;
  if (name === undefined ? !isContent : isName) return [];
  const shown = name === undefined ? 'missing' : showValue(name);
  return [`name is ${shown}; give a file name without folders and with its extension, such as "photo.png".`];
}

async function openUpload(source: UploadSource, name = '', signal?: AbortSignal): Promise<OpenedSource> {
  if (typeof source !== 'string') {
    // Into a temporary file: the storage needs the size first, and a part may have to be sent again.
    const content = source instanceof Readable ? source : Readable.from([source]);
    const rules = { maxBytes: maxFileBytes, spoolFolder: spoolFolder() };
    return await spoolSource(content, { name, signal, fail: createFail(name), rules });
  }
  const real = await realpath(source).catch((error: unknown) => {
    throw createFail(source)('NOT_FOUND', 'cannot be found', 'give the path of a file', error);
  });
  return await openFolderSource(real, { inputRoots: [dirname(real)], maxBytes: maxFileBytes });
}
