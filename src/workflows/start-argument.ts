import { workflowInfo } from '@temporalio/workflow';
import { showValue } from '../core/text';
import { isRecord } from '../core/json';

export interface StartArgument {
  /** Not checked yet. */
  readonly input: unknown;
  /** The continue-as-new state of the previous run; undefined in a workflow's first run. */
  readonly continueAsNewState: Readonly<Record<string, unknown>> | undefined;
  /** Why this run must not go on, whatever its input is. */
  readonly problems: readonly string[];
}

/**
 * Takes the argument of a run apart. Any client may start a workflow with any argument, `continueAsNewState` too: a forged state could
 * name a task that is not this one's, or block the workflow. It is believed only in a run that continues a previous one,
 * where the previous run of this very workflow wrote it. Temporal alone says which run that is. One that Temporal's retries
 * made has the argument of the run before it, which may be that of the start: it begins anew, and create records tell it
 * what was paid.
 */
export function readStartArgument(argument: unknown): StartArgument {
  const { continuedFromExecutionRunId, cronSchedule } = workflowInfo();
  const problems: string[] = [];
  // A second run by a schedule looks as if it continued the first, with the argument of that.
  if (cronSchedule !== undefined && cronSchedule !== '') {
    problems.push(
      `The workflow was started with the cron schedule ${showValue(cronSchedule)}; start a workflow of its own for every task.`,
    );
  }
  if (!isRecord(argument) || !Object.hasOwn(argument, 'continueAsNewState'))
    return { input: argument, continueAsNewState: undefined, problems };
  const { continueAsNewState, ...input } = argument;
  if (isRetriedRun()) return { input, continueAsNewState: undefined, problems };
  if (continuedFromExecutionRunId === undefined || !isRecord(continueAsNewState)) {
    problems.push(
      `continueAsNewState is ${showValue(continueAsNewState)}; only a run that continues a previous one has it. Start the workflow without it.`,
    );
    return { input, continueAsNewState: undefined, problems };
  }
  return { input, continueAsNewState, problems };
}

/** Whether a retry policy that another client gave the workflow made this run, and no continue-as-new. */
export function isRetriedRun(): boolean {
  return workflowInfo().attempt > 1;
}
