import { proxySinks, workflowInfo, type WorkflowInterceptors } from '@temporalio/workflow';
import { type ReplaySinks, slowReplayMs } from '../contract/metrics';
import { noteHistoryLength } from './history-length';

// The SDK takes the stack of every promise of a workflow: a fifth of what its thread takes when stacks have ten frames.
Error.stackTraceLimit = 3;

const sinks = proxySinks<ReplaySinks>();

/** For `workflowInterceptorModules`: notes the length of the history, and tells the worker of a replay that took long, once the workflow takes a new step. */
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
          // A query replays, too, and the next step may come hours later.
          const isQuery = input.activation.jobs?.some(({ queryWorkflow }) => queryWorkflow != null) === true;
          if (replay !== undefined && !isQuery) {
            const { begunMs, lastMs } = replay;
            if (workflowInfo().unsafe.isReplaying) replay.lastMs = now();
            else replay = undefined;
            if (replay === undefined && lastMs - begunMs > slowReplayMs) sinks.longhaulReplays.slow(lastMs - begunMs);
          }
          next(input);
          const mayLeaveEvents = input.activation.jobs?.some(
            (job) => job.doUpdate == null && job.queryWorkflow == null,
          );
          if (mayLeaveEvents === true) noteHistoryLength();
        },
      },
    ],
  };
}
