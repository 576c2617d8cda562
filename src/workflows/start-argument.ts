import { workflowInfo } from '@temporalio/workflow';
import { showValue } from '../domain/text';
import { isRecord } from '../domain/json';

/** The one argument of a run, taken apart. */
export interface StartArgument {
  /** Not checked yet. */
  readonly input: unknown;
  /** The continue-as-new state of the former run; undefined in a workflow's first run. */
  readonly carried: Readonly<Record<string, unknown>> | undefined;
  /** Why this run must not go on, whatever its input is. */
  readonly problems: readonly string[];
}

/**
 * Takes the argument of a run apart. Anybody may start a workflow with any argument, `carried` too: a forged state could
 * name a task that is not this one's, or wedge the workflow. It is believed only in a run that continues a former one,
 * where the former run of this very workflow wrote it. Temporal alone says which run that is.
 */
export function readStartArgument(argument: unknown): StartArgument {
  const { continuedFromExecutionRunId, cronSchedule } = workflowInfo();
  const problems: string[] = [];
  if (isScheduled(cronSchedule)) {
    problems.push(
      `The workflow was started with the cron schedule ${showValue(cronSchedule)}; start a workflow of its own for every task.`,
    );
  }
  if (!isRecord(argument) || !Object.hasOwn(argument, 'carried'))
    return { input: argument, carried: undefined, problems };
  const { carried, ...input } = argument;
  if (continuedFromExecutionRunId === undefined || !isRecord(carried)) {
    problems.push(
      `carried is ${showValue(carried)}; only a run that continues a former one has it. Start the workflow without it.`,
    );
    return { input, carried: undefined, problems };
  }
  return { input, carried, problems };
}

/** A second run by a schedule looks as if it continued the first, with the argument of that. */
function isScheduled(cronSchedule: string | undefined): boolean {
  return cronSchedule !== undefined && cronSchedule !== '';
}
