import { proxySinks, workflowInfo, type WorkflowInterceptors } from '@temporalio/workflow';
import { type ReplaySinks, slowReplayMs } from '../contract/replays';

const sinks = proxySinks<ReplaySinks>();

/** For `workflowInterceptorModules`: tells the worker of a replay that took long, once the workflow takes a new step. */
export function interceptors(): WorkflowInterceptors {
  const { isReplaying, now } = workflowInfo().unsafe;
  let replay = isReplaying ? { begunMs: now(), lastMs: now() } : undefined;
  return {
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
        },
      },
    ],
  };
}
