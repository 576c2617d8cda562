import { type ServiceTimestamp, toServiceTimestamp } from '../domain/time';
import { readWord, unread, type WithoutUndefined, withoutUndefined } from './wire-values';

/** The moments of a task (specification, sections 2.3 and 6); what the service left out, or left empty, is absent. */
export interface TaskTimestamps {
  readonly createdAt?: ServiceTimestamp;
  readonly updatedAt?: ServiceTimestamp;
  readonly executedAt?: ServiceTimestamp;
  readonly runningAt?: ServiceTimestamp;
  readonly endedAt?: ServiceTimestamp;
  /** When the record and the result files expire. */
  readonly expiredAt?: ServiceTimestamp;
}

/** Their fields on the wire. */
export const wireTimestamps = {
  created_at: unread,
  updated_at: unread,
  executed_at: unread,
  running_at: unread,
  ended_at: unread,
  expired_at: unread,
};

/** The same by the names of this library. */
export function readTimestamps(
  wire: Readonly<Partial<Record<keyof typeof wireTimestamps, unknown>>>,
): WithoutUndefined<TaskTimestamps> {
  return withoutUndefined({
    createdAt: readTimestamp(wire.created_at),
    updatedAt: readTimestamp(wire.updated_at),
    executedAt: readTimestamp(wire.executed_at),
    runningAt: readTimestamp(wire.running_at),
    endedAt: readTimestamp(wire.ended_at),
    expiredAt: readTimestamp(wire.expired_at),
  });
}

function readTimestamp(value: unknown): ServiceTimestamp | undefined {
  const raw = readWord(typeof value === 'number' ? String(value) : value, 64);
  return raw === undefined ? undefined : toServiceTimestamp(raw);
}
