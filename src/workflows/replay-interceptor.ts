import { type ActivateInput, proxySinks, workflowInfo, type WorkflowInterceptors } from '@temporalio/workflow';
import { type ReplaySinks, slowReplayMs } from '../contract/metrics';
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
            if (replay === undefined && lastMs - begunMs > slowReplayMs) sinks.longhaulReplays.slow(lastMs - begunMs);
          }
          countJobs(jobs);
          next(input);
        },
      },
    ],
  };
}

type Job = NonNullable<ActivateInput['activation']['jobs']>[number];

/** Queries and refused updates leave no event; a local activity ends within the workflow task that asked for it. */
function countJobs(jobs: readonly Job[]): void {
  const ends = jobs.filter(({ resolveActivity }) => resolveActivity?.isLocal === true).length;
  const others = jobs.filter(
    (job) => job.doUpdate == null && job.queryWorkflow == null && job.resolveActivity?.isLocal !== true,
  );
  const events = others.map((job) => (job.resolveActivity != null ? 3 : job.fireTimer != null ? 2 : 1));
  if (others.length > 0) events.push(workflowTaskEvents);
  if (ends + others.length > 0) countEvents(events.reduce((sum, one) => sum + one, ends));
}
