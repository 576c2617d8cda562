import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';

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
