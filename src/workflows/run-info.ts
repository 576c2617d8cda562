import { setCurrentDetails, setWorkflowOptions, workflowInfo } from '@temporalio/workflow';
import { isRecord } from '../core/json';
import { showValue } from '../core/text';

export interface StartArgument {
  readonly input: unknown;
  /** Undefined in a workflow's first run. */
  readonly continueAsNewState: Readonly<Record<string, unknown>> | undefined;
  readonly problems: readonly string[];
}

/**
 * Takes a run's argument apart. Any client may forge a `continueAsNewState`: it counts only if Temporal says that the
 * run continues another. A retried run may have the argument of the start, so it begins anew; create records tell it
 * what was paid.
 */
export function readStartArgument(argument: unknown): StartArgument {
  const { continuedFromExecutionRunId, cronSchedule } = workflowInfo();
  const problems: string[] = [];
  // The second run of a schedule seems to continue the first, with its argument.
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

/** Whether a retry policy set by another client made this run. */
export function isRetriedRun(): boolean {
  return workflowInfo().attempt > 1;
}

/** Global variables are per workflow, while workflows share this module. */
const holder: typeof globalThis & {
  longhaulHistory?: { events: number; isContinueSuggested: boolean };
  longhaulDetails?: () => string;
} = globalThis;

/** Counts incoming events: in a replay, Temporal's count may differ when a query is answered while a poll ends. */
export function isHistoryLong(maxEvents: number): boolean {
  const { events = 0, isContinueSuggested = false } = holder.longhaulHistory ?? {};
  return isContinueSuggested || events >= maxEvents;
}

/** Called before events are handled: no condition may end with a refused update, which no replay has. */
export function countEvents(events: number): void {
  const { continueAsNewSuggested: isContinueSuggested } = workflowInfo();
  holder.longhaulHistory = { events: (holder.longhaulHistory?.events ?? 0) + events, isContinueSuggested };
}

export function setDetails(details: () => string): void {
  holder.longhaulDetails = details;
}

export function refreshDetails(): void {
  if (holder.longhaulDetails !== undefined) setCurrentDetails(holder.longhaulDetails());
}

export function autoUpgrade(workflow: (...args: never[]) => Promise<unknown>): void {
  setWorkflowOptions(() => {
    // Temporal refuses a behavior from workers without a version.
    const { deploymentName = '' } = workflowInfo().currentDeploymentVersion ?? {};
    return deploymentName === '' ? {} : { versioningBehavior: 'AUTO_UPGRADE' };
  }, workflow);
}
