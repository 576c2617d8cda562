import { setTimeout as delay } from 'node:timers/promises';
import { temporal } from '@temporalio/proto';
import type { NativeConnection } from '@temporalio/worker';
import { archiveTaskQueue, transferTaskQueue, watchTaskQueue } from '../contract/task-queues';

const { TASK_QUEUE_TYPE_WORKFLOW, TASK_QUEUE_TYPE_ACTIVITY } = temporal.api.enums.v1.TaskQueueType;

const everyMs = 200;
const timeoutMs = 5_000;
/** The answer is of a queue's first partition: requests for work that so many answers do not have are at another one. */
const enoughAnswers = 25;

/** A worker that polls. */
interface PollingWorker {
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly identity: string;
}

/** Waits until Temporal has requests for work of this worker at each of its queues; ends early when it is stopped. */
export async function untilQueuesKnow(
  { connection, namespace, taskQueue, identity }: PollingWorker,
  signal: AbortSignal,
): Promise<void> {
  const queues = [
    { name: taskQueue, taskQueueType: TASK_QUEUE_TYPE_WORKFLOW },
    ...[taskQueue, transferTaskQueue(taskQueue), archiveTaskQueue(taskQueue), watchTaskQueue(taskQueue)].map(
      (name) => ({ name, taskQueueType: TASK_QUEUE_TYPE_ACTIVITY }),
    ),
  ];
  for (const { name, taskQueueType } of queues) {
    const ask = () => connection.workflowService.describeTaskQueue({ namespace, taskQueue: { name }, taskQueueType });
    let answers = 0;
    while (!signal.aborted && answers < enoughAnswers) {
      const answer = await connection.withDeadline(Date.now() + timeoutMs, ask).catch(() => undefined);
      if (answer?.pollers.some((poller) => poller.identity === identity)) break;
      if (answer !== undefined) answers += 1;
      await delay(everyMs, undefined, { signal }).catch(() => undefined);
    }
  }
}
