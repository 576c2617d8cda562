import { log, patched } from '@temporalio/workflow';
import type { GateAnswer } from '../domain/gate-answer';
import { formatDuration } from '../domain/duration';
import { askGate } from './activity-proxies';
import { continueWaiting, waitBounded } from './continue-as-new';
import { breachedDeadline, untilTotalDeadlineMs } from './deadlines';
import { lastWordsOf } from './failures';
import type { TaskRun } from './task-run';

/**
 * Waits, on durable timers, until the gate of the account lets this task send its create. `false`: a stop or the task's
 * deadline came first. `sinceMs`, the moment of its first question, keeps its place among those that wait.
 */
export async function passGate(run: TaskRun, sinceMs: number): Promise<boolean> {
  // Tasks from before there was a gate go on as they began.
  if (!patched('gate')) return true;
  while (!isTooLate(run)) {
    const answer = await ask(run, sinceMs);
    if (answer.pass) {
      run.archiveId = answer.archiveId;
      return !isTooLate(run);
    }
    await waitAtGate(run, answer.reason, answer.waitMs);
    await continueWaiting(run);
  }
  return false;
}

function isTooLate(run: TaskRun): boolean {
  return run.isStopAskedBeforeCreate || breachedDeadline(run) !== undefined;
}

/** One question. It is always awaited: a local activity left behind when a run ends wedges the run. */
async function ask({ plan: { account } }: TaskRun, sinceMs: number): Promise<GateAnswer> {
  try {
    return await askGate({ account, sinceMs });
  } catch (error) {
    // The gate spares the service; no task depends on it. What is wrong in earnest, the create will say.
    log.warn('gate not asked', { account, reason: lastWordsOf(error) });
    return { pass: true };
  }
}

async function waitAtGate(run: TaskRun, reason: string, waitMs: number): Promise<void> {
  const delayMs = Math.min(waitMs, untilTotalDeadlineMs(run));
  const gate = `the gate of the account "${run.plan.account}"`;
  run.show('Creating', `${gate}: ${reason}`, `ask it again in ${formatDuration(delayMs)}; nothing is paid so far`);
  const summary = 'before the gate is asked again';
  await waitBounded(run, () => run.isStopAskedBeforeCreate, { ms: delayMs, summary });
}
