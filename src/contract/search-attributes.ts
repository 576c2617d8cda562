import { defineSearchAttributeKey, type SearchAttributePair, SearchAttributeType } from '@temporalio/common';
import { redact } from '../core/redact';
import type { LonghaulStatus } from '../core/task-state';
import { showValue } from '../core/text';
import type { FailureType } from './failure-types';

/** Longhaul's search attributes. A worker refuses to start on a namespace that lacks one. */
export const searchAttributes = {
  /** A `LonghaulStatus`, or the service's own word where Longhaul does not know it. */
  status: defineSearchAttributeKey('LonghaulStatus', SearchAttributeType.KEYWORD),
  /** The app's `web_app_id`. */
  app: defineSearchAttributeKey('LonghaulApp', SearchAttributeType.KEYWORD),
  requestId: defineSearchAttributeKey('LonghaulRequestId', SearchAttributeType.KEYWORD),
  batch: defineSearchAttributeKey('LonghaulBatch', SearchAttributeType.KEYWORD),
  account: defineSearchAttributeKey('LonghaulAccount', SearchAttributeType.KEYWORD),
  failure: defineSearchAttributeKey('LonghaulFailure', SearchAttributeType.KEYWORD),
  /** What the start called the task, for its caller's own lists; the workflow leaves it as it is. */
  tags: defineSearchAttributeKey('LonghaulTags', SearchAttributeType.KEYWORD_LIST),
} as const;

/** As the tools of Temporal and its documentation call the types. */
export type AttributeTypeName = 'Keyword' | 'KeywordList';

export const searchAttributeTypes: Readonly<Record<string, AttributeTypeName>> = Object.fromEntries(
  Object.values(searchAttributes).map(({ name, type }) => [name, type === 'KEYWORD' ? 'Keyword' : 'KeywordList']),
);
/** To be registered in a namespace. */
export const searchAttributeNames: readonly string[] = Object.keys(searchAttributeTypes);

/** The memo that tells when an uncertain create was sent, in milliseconds since 1970. */
export const sentAtMemo = 'createSentAtMs';

export function rowsOfBatch(batchId: string): string {
  return `${searchAttributes.batch.name} = ${JSON.stringify(batchId)}`;
}

export interface SearchableTask {
  readonly status: LonghaulStatus;
  readonly account: string;
  /** Null for an adopted task whose app is not known. */
  readonly webAppId: number | null;
  /** Null before the service accepted the task. */
  readonly requestId: string | null;
  /** What it ended with; absent while it runs, and when it did not fail. */
  readonly failure?: FailureType | undefined;
}

export function taskSearchAttributes(task: SearchableTask): SearchAttributePair[] {
  const { status, account, webAppId, requestId, failure } = task;
  return [
    { key: searchAttributes.status, value: status },
    { key: searchAttributes.account, value: account },
    ...(requestId === null ? [] : [{ key: searchAttributes.requestId, value: requestId }]),
    ...(webAppId === null ? [] : [{ key: searchAttributes.app, value: String(webAppId) }]),
    ...(failure === undefined ? [] : [{ key: searchAttributes.failure, value: failure }]),
  ];
}

export function firstStatus(plan: { readonly files: readonly unknown[] }): LonghaulStatus {
  return plan.files.length > 0 ? 'PreparingInputs' : 'Creating';
}

export const maxTags = 20;

/** A tag is listed as it is, also where payloads are encrypted, so nothing like a secret can be one. */
export function isTag(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z0-9][A-Za-z0-9._:/=@+-]{0,63}$/.test(value) && redact(value) === value;
}

export function tagProblems(tags: unknown): readonly string[] {
  if (!Array.isArray(tags)) return [`tags is ${showValue(tags)}; give a list of texts.`];
  if (tags.length > maxTags) return [`tags has ${tags.length} entries; a task takes at most ${maxTags}.`];
  return tags.flatMap((tag: unknown, index) => {
    const remedy = '1 to 64 letters, digits or . _ : / = @ + -, beginning with a letter or digit, and no secret';
    return isTag(tag) ? [] : [`tags[${index}] is ${showValue(tag)}; give ${remedy}.`];
  });
}
