import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { toMs } from './workflow-info';

const { TASK_QUEUE_TYPE_WORKFLOW } = temporal.api.enums.v1.TaskQueueType;
const { TASK_QUEUE_KIND_STICKY } = temporal.api.enums.v1.TaskQueueKind;

/** Clocks that are further apart than this are wrong: storages refuse signatures, and ages mean nothing. */
export const maxClockApartMs = 60_000;
export const clockRemedy = 'Set this machine’s clock (NTP): temporary credentials depend on it.';

const [lookEveryMs, waitMs, pollDeadlineMs] = [20, 2_000, 10_000];

/**
 * By how many milliseconds this machine's clock is ahead of Temporal's; undefined where the server does not tell.
 *
 * Temporal says no time, except when a worker asked for work last: so a request for work is sent to a queue of its own,
 * whose name the server forgets within a day, and is called off.
 */
export async function readClockAheadMs(client: Client): Promise<number | undefined> {
  const { workflowService, options } = client;
  const { namespace } = options;
  const identity = `clock-${randomUUID()}`;
  const taskQueue = { name: `longhaul-${identity}`, kind: TASK_QUEUE_KIND_STICKY, normalName: 'longhaul' };
  const [calledOff, refused] = [new AbortController(), new AbortController()];
  const sentMs = Date.now();
  const request = client.withAbortSignal(calledOff.signal, () =>
    client.withDeadline(sentMs + pollDeadlineMs, () =>
      workflowService.pollWorkflowTaskQueue({ namespace, taskQueue, identity }),
    ),
  );
  const ended = request.then(
    () => undefined,
    () => {
      refused.abort();
    },
  );
  try {
    for (let waitedMs = 0; waitedMs < waitMs && !refused.signal.aborted; waitedMs += lookEveryMs) {
      await delay(lookEveryMs);
      const taskQueueType = TASK_QUEUE_TYPE_WORKFLOW;
      const { pollers } = await workflowService.describeTaskQueue({ namespace, taskQueue, taskQueueType });
      const serverMs = toMs(pollers.find((poller) => poller.identity === identity)?.lastAccessTime);
      if (serverMs === null) continue;
      // It was read between the two, so what lies between them is no difference.
      const seenMs = Date.now();
      return serverMs < sentMs ? sentMs - serverMs : Math.min(0, seenMs - serverMs);
    }
    return undefined;
  } finally {
    calledOff.abort();
    await ended;
  }
}
