import type { Timestamps } from '../contract/task-result';
import { parseServiceTimestamp } from '../domain/timestamp';
import type { TaskDetail } from '../service';

const names = ['createdAt', 'executedAt', 'runningAt', 'endedAt', 'updatedAt', 'expiredAt'] as const;

/** The timestamps that the service gave, as ISO-8601 with the raw text beside them. */
export function timestampsOf(detail: TaskDetail): Timestamps {
  const given = names.flatMap((name) => {
    const raw = detail[name];
    return raw === undefined ? [] : [[name, { iso: parseServiceTimestamp(raw) ?? null, raw }] as const];
  });
  return Object.fromEntries(given);
}
