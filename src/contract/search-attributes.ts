import { defineSearchAttributeKey, type SearchAttributePair, SearchAttributeType } from '@temporalio/common';
import type { LonghaulStatus } from '../domain/task-state';

/** Longhaul's search attributes, all of type Keyword. A worker refuses to start on a namespace that lacks one. */
export const searchAttributes = {
  /** What the task is doing: a `LonghaulStatus`, or the service's own word where Longhaul does not know it. */
  status: defineSearchAttributeKey('LonghaulStatus', SearchAttributeType.KEYWORD),
  /** The app's `web_app_id`. */
  app: defineSearchAttributeKey('LonghaulApp', SearchAttributeType.KEYWORD),
  /** The service's handle of the task, once known. */
  requestId: defineSearchAttributeKey('LonghaulRequestId', SearchAttributeType.KEYWORD),
  /** The batch the task belongs to. */
  batch: defineSearchAttributeKey('LonghaulBatch', SearchAttributeType.KEYWORD),
  /** The account whose credentials the task uses. */
  account: defineSearchAttributeKey('LonghaulAccount', SearchAttributeType.KEYWORD),
} as const;

/** The names to register in a namespace, each as a Keyword. */
export const searchAttributeNames: readonly string[] = Object.values(searchAttributes).map((key) => key.name);

/** What the search attributes of a task tell. */
export interface SearchableTask {
  readonly status: LonghaulStatus;
  readonly account: string;
  /** Null for an adopted task whose app was not told. */
  readonly webAppId: number | null;
  /** Null before the service accepted the task. */
  readonly requestId: string | null;
}

/** The search attributes that a task's workflow keeps up to date, as a start may set them already. */
export function taskSearchAttributes({ status, account, webAppId, requestId }: SearchableTask): SearchAttributePair[] {
  return [
    { key: searchAttributes.status, value: status },
    { key: searchAttributes.account, value: account },
    ...(requestId === null ? [] : [{ key: searchAttributes.requestId, value: requestId }]),
    ...(webAppId === null ? [] : [{ key: searchAttributes.app, value: String(webAppId) }]),
  ];
}

/** The status of a task before its workflow runs: the one that the workflow begins with. */
export function firstStatus(plan: { readonly files: readonly unknown[] }): LonghaulStatus {
  return plan.files.length > 0 ? 'PreparingInputs' : 'Creating';
}
