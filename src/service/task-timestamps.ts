import { type ServiceTimestamp, toServiceTimestamp } from '../domain/time';
import { optionalWord, type WithoutUndefined, withoutUndefined } from './wire-values';

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

const timestamp = optionalWord(64).transform((raw) => (raw === undefined ? undefined : toServiceTimestamp(raw)));

/** Their fields on the wire. */
export const wireTimestamps = {
  created_at: timestamp,
  updated_at: timestamp,
  executed_at: timestamp,
  running_at: timestamp,
  ended_at: timestamp,
  expired_at: timestamp,
};

type WireTimestamps = Readonly<Partial<Record<keyof typeof wireTimestamps, ServiceTimestamp | undefined>>>;

/** The same by the names of this library. */
export function readTimestamps(wire: WireTimestamps): WithoutUndefined<TaskTimestamps> {
  return withoutUndefined({
    createdAt: wire.created_at,
    updatedAt: wire.updated_at,
    executedAt: wire.executed_at,
    runningAt: wire.running_at,
    endedAt: wire.ended_at,
    expiredAt: wire.expired_at,
  });
}
