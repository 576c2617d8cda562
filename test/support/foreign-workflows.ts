/* Workflows of another program, under the names of Longhaul's: what they answer, return and fail with is their start's choice. */
import { ApplicationFailure, condition, defineQuery, setHandler } from '@temporalio/workflow';
import { type Payload, RawValue } from '@temporalio/common';

/** What a foreign workflow does. */
export interface ForeignPlan {
  /** Its answer to every query of Longhaul's client. */
  readonly answer?: unknown;
  /** It ends with this. */
  readonly result?: unknown;
  /** It fails with this as its details. */
  readonly details?: unknown;
  /** Instead of a value: a payload that cannot be decoded. */
  readonly isUndecodable?: boolean;
  /** It does not end. */
  readonly isOpen?: boolean;
}

/** A foreign `task`. */
export async function task(plan: ForeignPlan): Promise<unknown> {
  const value = (one: unknown): unknown => (plan.isUndecodable === true ? undecodable() : one);
  for (const name of ['status', 'progress']) setHandler(defineQuery(name), () => value(plan.answer));
  if (plan.isOpen === true) await condition(() => false);
  if ('details' in plan) throw ApplicationFailure.nonRetryable('failed', 'constructor', value(plan.details));
  return value(plan.result);
}

/** A foreign `sweep`. */
export const sweep = task;

/** A foreign `batch`. */
export const batch = task;

function undecodable(): RawValue {
  const payload: Payload = { metadata: { encoding: bytes('binary/encrypted') }, data: bytes('secret') };
  return RawValue.fromPayload(payload);
}

function bytes(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
