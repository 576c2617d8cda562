import { proxySinks, workflowInfo, type WorkflowInterceptors } from '@temporalio/workflow';
import { type ReplaySinks, slowReplayMs } from '../contract/metrics';
import { noteHistoryLength, refreshDetails } from './run-info';

// The SDK takes the stack of every promise of a workflow: a fifth of what its thread takes when stacks have ten frames.
Error.stackTraceLimit = 3;

const sinks = proxySinks<ReplaySinks>();

/** For `workflowInterceptorModules`: notes the length of the history, makes details that are read, and tells the worker of slow replays. */
export function interceptors(): WorkflowInterceptors {
  const { isReplaying, now } = workflowInfo().unsafe;
  let replay = isReplaying ? { begunMs: now(), lastMs: now() } : undefined;
  return {
    inbound: [
      {
        handleUpdate: async (input, next) => {
          noteHistoryLength();
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
          next(input);
          if (jobs.some((job) => job.doUpdate == null && job.queryWorkflow == null)) noteHistoryLength();
        },
      },
    ],
  };
}
