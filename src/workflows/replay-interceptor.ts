import { type ActivateInput, proxySinks, workflowInfo, type WorkflowInterceptors } from '@temporalio/workflow';
import type { ReplaySinks } from '../contract/metrics';
import { countEvents, refreshDetails } from './run-info';

// The SDK takes the stack of every promise: with ten frames, a fifth of the workflow thread's time.
Error.stackTraceLimit = 3;

const workflowTaskEvents = 3;
const updateEvents = 2 + workflowTaskEvents;

const sinks = proxySinks<ReplaySinks>();

export function interceptors(): WorkflowInterceptors {
  const { isReplaying, now } = workflowInfo().unsafe;
  let replay = isReplaying ? { begunMs: now(), lastMs: now() } : undefined;
  return {
    inbound: [
      {
        handleUpdate: async (input, next) => {
          countEvents(updateEvents);
          return await next(input);
        },
      },
    ],
    internals: [
      {
        activate: (input, next) => {
          const jobs = input.activation.jobs ?? [];
          const isQuery = jobs.some(({ queryWorkflow }) => queryWorkflow != null);
          if (isQuery) refreshDetails();
          // A query replays, too, and the next step may come hours later.
          else if (replay !== undefined) {
            const { begunMs, lastMs } = replay;
            if (workflowInfo().unsafe.isReplaying) replay.lastMs = now();
            else replay = undefined;
            if (replay === undefined) sinks.longhaulReplays.ended(lastMs - begunMs);
          }
          countJobs(jobs);
          next(input);
        },
      },
    ],
  };
}

type Job = NonNullable<ActivateInput['activation']['jobs']>[number];

/**
 * Jobs, not workflow tasks: a replay may take two tasks as one. Queries and refused updates leave no event; a local
 * activity ends within the workflow task that asked for it.
 */
function countJobs(jobs: readonly Job[]): void {
  for (const job of jobs) {
    if (job.doUpdate != null || job.queryWorkflow != null) continue;
    if (job.resolveActivity?.isLocal === true) countEvents(1);
    else countEvents((job.resolveActivity != null ? 3 : job.fireTimer != null ? 2 : 1) + workflowTaskEvents);
  }
}
