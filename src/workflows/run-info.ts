import { setCurrentDetails, setWorkflowOptions, workflowInfo } from '@temporalio/workflow';
import { isRecord } from '../core/json';
import { showValue } from '../core/text';

export interface StartArgument {
  readonly input: unknown;
  /** The continue-as-new state of the previous run; undefined in a workflow's first run. */
  readonly continueAsNewState: Readonly<Record<string, unknown>> | undefined;
  /** Why this run must not go on, whatever its input is. */
  readonly problems: readonly string[];
}

/**
 * Takes the argument of a run apart. Any client may start a workflow with a forged `continueAsNewState`, so it is believed
 * only in a run that by Temporal's word continues a previous one, and not in a retried run, whose argument may be that of the
 * start: that one begins anew, and create records tell it what was paid.
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
  if (!isRecord(argument) || !Object.hasOwn(argument, 'continueAsNewState')) {
    return { input: argument, continueAsNewState: undefined, problems };
  }
  const { continueAsNewState, ...input } = argument;
  if (isRetriedRun()) return { input, continueAsNewState: undefined, problems };
  if (continuedFromExecutionRunId !== undefined && isRecord(continueAsNewState)) {
    return { input, continueAsNewState, problems };
  }
  problems.push(
    `continueAsNewState is ${showValue(continueAsNewState)}; only a run that continues a previous one has it. Start the workflow without it.`,
  );
  return { input, continueAsNewState: undefined, problems };
}

/** Whether a retry policy that another client gave the workflow made this run, and no continue-as-new. */
export function isRetriedRun(): boolean {
  return workflowInfo().attempt > 1;
}

/** Every workflow has global variables of its own, while they share this module. */
const holder: typeof globalThis & {
  longhaulHistory?: { events: number; isContinueSuggested: boolean };
  longhaulDetails?: () => string;
} = globalThis;

/**
 * By a count of what came in, and not by Temporal's: of a workflow task that answers a query while a poll ends, a replay sees
 * the end at another length of the history.
 */
export function isHistoryLong(maxEvents: number): boolean {
  const { events = 0, isContinueSuggested = false } = holder.longhaulHistory ?? {};
  return isContinueSuggested || events >= maxEvents;
}

/** For the interceptors, before what came in is handled: a condition must not end with a refused update, which no replay has. */
export function countEvents(events: number): void {
  const { continueAsNewSuggested: isContinueSuggested } = workflowInfo();
  holder.longhaulHistory = { events: (holder.longhaulHistory?.events ?? 0) + events, isContinueSuggested };
}

/** What the Web UI shows of this workflow as its details, in Markdown: made only when it is read. */
export function setDetails(details: () => string): void {
  holder.longhaulDetails = details;
}

/** For the interceptor of each query. */
export function refreshDetails(): void {
  if (holder.longhaulDetails !== undefined) setCurrentDetails(holder.longhaulDetails());
}

/** Has a workflow go on with the current version of the workers. */
export function autoUpgrade(workflow: (...args: never[]) => Promise<unknown>): void {
  setWorkflowOptions(() => {
    // Temporal refuses the steps of a worker without a version that name a behavior.
    const { deploymentName = '' } = workflowInfo().currentDeploymentVersion ?? {};
    return deploymentName === '' ? {} : { versioningBehavior: 'AUTO_UPGRADE' };
  }, workflow);
}
