import { extname } from 'node:path';
import { inspect } from 'node:util';
import * as v from 'valibot';
import { knownSecrets } from '../core/redact';
import type { UploadToken } from '../storage/upload-client';
import { boundedList, readInteger, readLink, readWord, required, type Wire } from './envelope';

/** Enter histories and messages, and the storage needs them unchanged. S3 allows a key of 1,024 bytes in UTF-8. */
const shown = v.pipe(
  v.string(),
  v.minLength(1),
  v.maxLength(1_024),
  v.check((value) => {
    return !/[\p{Cc}\p{Cs}]/u.test(value) && knownSecrets.removeFrom(value, []) === value;
  }, 'holds a control character or a secret'),
);
const secret = v.pipe(v.string(), v.minLength(1), v.maxLength(16_384));
const wireSecrets = v.object({
  file: v.object({ access_key_id: secret, access_key_secret: secret, security_token: secret }),
});
const wirePlaces = v.object({
  file: v.object({ object_key: shown }),
  storage: v.object({ endpoint: shown, bucket: shown, region: shown }),
});

export function readUploadToken(data: unknown): UploadToken {
  const { file: secrets } = v.parse(wireSecrets, data);
  // Before the places, none of which may hold a secret.
  knownSecrets.addTemporary(secrets.access_key_id, secrets.access_key_secret, secrets.security_token);
  const { file, storage } = v.parse(wirePlaces, data);
  const token: UploadToken = {
    objectKey: file.object_key,
    accessKeyId: secrets.access_key_id,
    accessKeySecret: secrets.access_key_secret,
    securityToken: secrets.security_token,
    ...storage,
  };
  const redacted = '[redacted]';
  const printed = { ...token, accessKeyId: redacted, accessKeySecret: redacted, securityToken: redacted };
  const show = { value: () => printed };
  return Object.freeze(Object.defineProperties(token, { toJSON: show, [inspect.custom]: show }));
}

/** A committed input file that loader nodes can load (specification, section 2.7). */
export interface InputResource {
  /** Text beyond the safe integers, with all of its digits. */
  readonly id: number | string;
  /** Original file name; empty when the service gave none. */
  readonly name: string;
  /** With its leading dot; empty when the service gave none. */
  readonly ext: string;
  /** May be time-limited: resolve it anew just before use, and do not store it. */
  readonly url: string;
  /** Key of its object; absent when the service gave none. */
  readonly objectKey?: string;
}

/** One page of committed input files (specification, section 4.8). */
export interface InputResourcePage {
  readonly list: readonly InputResource[];
  /** How many resources match; absent when the service gave none. */
  readonly total?: number;
  /** Page number, as the service counts. */
  readonly current?: number;
  readonly pageSize?: number;
}

/** Which committed input files to list (specification, section 4.8). */
export interface InputResourceFilter {
  /** With its leading dot, as the service stores it. */
  readonly ext?: string;
  readonly objectKey?: string;
}

const inputResource = v.pipe(
  v.object({
    id: required(readId),
    name: detail(1_024),
    ext: detail(64),
    url: required(readLink),
    object_key: detail(1_024),
  }),
  v.transform(({ name = '', ext = '', object_key: objectKey, ...wire }) => ({ ...wire, name, ext, objectKey })),
);

export function readInputResource(data: unknown): InputResource {
  return v.parse(inputResource, data);
}

function detail(maxLength: number): v.GenericSchema<unknown, string | undefined> {
  return v.optional(
    v.pipe(
      v.unknown(),
      v.transform((value) => readWord(value, maxLength)),
    ),
  );
}

function readId(value: unknown): number | string | undefined {
  return readInteger(value) ?? (typeof value === 'string' && /^-?\d{1,40}$/.test(value) ? value : undefined);
}

const wirePage = v.object({ list: v.nullable(boundedList(inputResource, 10_000)) });

export function readInputResourcePage(data: unknown): InputResourcePage {
  const { list } = v.parse(wirePage, data);
  const { total, current, page_size: pageSize } = data as Wire;
  const counts = { total: readInteger(total), current: readInteger(current), pageSize: readInteger(pageSize) };
  return { list: list ?? [], ...counts };
}

export interface UploadedObject {
  readonly objectKey: string;
  readonly name: string;
}

/** Compares the key; without one the name, else the extension. */
export function isResourceOf(resource: InputResource, { objectKey, name }: UploadedObject): boolean {
  if (resource.objectKey !== undefined) return resource.objectKey === objectKey;
  if (resource.name !== '') return comparable(resource.name) === comparable(name);
  return resource.ext === '' || comparable(resource.ext) === comparable(extname(name));
}

/** Services may change case, accents and separators of names. */
function comparable(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .toLowerCase();
}

/** Without the commit's id only a resource that is listed alone is taken: a service may ignore the filter. */
export function resourceOfUpload(
  { list, total = list.length }: InputResourcePage,
  object: UploadedObject,
  id?: number | string,
): InputResource | undefined {
  const own = list.filter((one) => one.objectKey === undefined || one.objectKey === object.objectKey);
  const certain = own.find((one) => one.objectKey !== undefined || one.id === id);
  const [only] = own;
  if (certain !== undefined || only === undefined || list.length > 1 || total > 1) return certain;
  return isResourceOf(only, object) ? only : undefined;
}
