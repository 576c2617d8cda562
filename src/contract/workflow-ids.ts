import { defaultHeaderPrefix } from '../core/service-dialect';
import { boundedPathPart, maxPartBytes, shortHash } from '../core/archive-name';
import { textLike } from './schema';

const keyPattern = /^[A-Za-z0-9._-]{1,80}$/;

export const taskKeyRemedy = '1 to 80 letters, digits, dots, underscores or hyphens';

/** A key, an id of a batch or the name of an account. */
export const taskKey = textLike(keyPattern, taskKeyRemedy);

export function isTaskKey(key: unknown): key is string {
  return typeof key === 'string' && keyPattern.test(key);
}

/** The workflow id of the task with this key. Throws `RangeError` when {@link isTaskKey} says no. */
export function taskWorkflowId(key: string): string {
  if (!isTaskKey(key)) {
    throw new RangeError(`The key ${JSON.stringify(key)} does not match [A-Za-z0-9._-]{1,80}.`);
  }
  return `task:${key}`;
}

/** The same for the same request id, so that it is not followed twice; where that fits in no key, with a hash. */
export function adoptionKey(requestId: string): string {
  const plain = `adopt-${requestId}`;
  if (isTaskKey(plain)) return plain;
  // Fits into a key with the prefix and the hash.
  return `adopt-${requestId.replace(/[^A-Za-z0-9._-]+/g, '-').slice(0, 50)}-${shortHash(requestId)}`;
}

/** The workflow id of the batch with this id. Throws `RangeError` when {@link isTaskKey} says no. */
export function batchWorkflowId(id: string): string {
  if (!isTaskKey(id)) throw new RangeError(`The batch id ${JSON.stringify(id)} does not match [A-Za-z0-9._-]{1,80}.`);
  return `batch:${id}`;
}

export function batchIdOf(workflowId: string): string | undefined {
  const id = workflowId.startsWith('batch:') ? workflowId.slice('batch:'.length) : '';
  return isTaskKey(id) ? id : undefined;
}

/** The workflow id of the task of a row; both parts as {@link isTaskKey} has them. */
export function rowWorkflowId(batchId: string, key: string): string {
  return `${batchWorkflowId(batchId)}:${key}`;
}

export function batchOfRow(workflowId: string): string | undefined {
  const [kind, batch, row, ...rest] = workflowId.split(':');
  return kind === 'batch' && isTaskKey(batch) && isTaskKey(row) && rest.length === 0 ? batch : undefined;
}

/** The workflow id that a person means by `task:KEY` or just `KEY`; other ids (`batch:…`) stand as they are. */
export function workflowIdOf(idOrKey: string): string {
  return idOrKey.includes(':') ? idOrKey : taskWorkflowId(idOrKey);
}

/** The key in a task's workflow id; `undefined` for any other id. */
export function taskKeyOf(workflowId: string): string | undefined {
  const key = workflowId.startsWith('task:') ? workflowId.slice('task:'.length) : '';
  return isTaskKey(key) ? key : undefined;
}

/** The key of a task, also of a row of a batch; undefined for any other id. */
export function keyOf(workflowId: string): string | undefined {
  return batchOfRow(workflowId) === undefined ? taskKeyOf(workflowId) : workflowId.split(':').at(-1);
}

/** Whether Longhaul gives such an id: `task:<key>`, `batch:<id>` or `batch:<id>:<row key>`. */
export function isLonghaulWorkflowId(id: string): boolean {
  const [kind, ...keys] = id.split(':');
  const maxKeys = kind === 'task' ? 1 : kind === 'batch' ? 2 : 0;
  return keys.length > 0 && keys.length <= maxKeys && keys.every(isTaskKey);
}

/** What a number and the extension take in the name of a create record. */
const recordEndBytes = 15;

/** The archive's name of the record of the `number`th create of this workflow id; in one of 256 folders. */
export function createRecordName(workflowId: string, number: number): string {
  const folder = shortHash(workflowId).slice(-2);
  return `.creates/${folder}/${boundedPathPart(workflowId, maxPartBytes - recordEndBytes)}.${number}.json`;
}

/** A create, by name: `task:order-17/2` is the second one that this workflow id was allowed. */
export function createName(workflowId: string, number: number): string {
  return `${workflowId}/${number}`;
}

export function parseCreateName(
  name: string,
): { readonly workflowId: string; readonly createNumber: number } | undefined {
  const [, workflowId = '', number] = /^(.+)\/([1-9]\d{0,8})$/.exec(name) ?? [];
  return workflowId === '' ? undefined : { workflowId, createNumber: Number(number) };
}

/** Carries a {@link createName}; callbacks about the task echo it (specification, sections 4.1 and 6). */
export function correlationHeader(prefix = defaultHeaderPrefix): string {
  return `${prefix}Correlation`;
}
