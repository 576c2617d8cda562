import { CancellationScope, log, setHandler } from '@temporalio/workflow';
import type { CheckAdoptionResult, TaskReference } from '../../contract/activities';
import {
  abandonUpdate,
  adoptUpdate,
  callbackSignal,
  cancelSignal,
  interruptSignal,
  rearchiveUpdate,
  recreateUpdate,
  statusQuery,
} from '../../contract/task-messages';
import { requireDecodable, Undecodable } from '../../contract/input-bounds';
import { isRecord } from '../../domain/json';
import { isRequestId } from '../../domain/create-outcome';
import { activities, adoptionCheckOptions } from '../activity-proxies';
import { messageRefused } from '../failures';
import type { Decision, PendingDecision } from './decisions';
import { failureMessage } from '../failures';
import type { TaskRun } from './task-run';

/** Registers every handler of the `task` workflow; before the first await, so that no message is missed. */
export function listen(run: TaskRun): void {
  CancellationScope.current().cancelRequested.catch(() => {
    run.isCancellationRequested = true;
    run.askToStop('stop');
  });
  setHandler(
    statusQuery,
    (...args: readonly unknown[]) => {
      requireDecodable(args);
      return run.display.view();
    },
    {
      description: 'What the task is doing, and what became of each request.',
    },
  );
  listenToVerbs(run);
  listenToAdopt(run);
  listenToDecisions(run);
}

function listenToVerbs(run: TaskRun): void {
  setHandler(
    cancelSignal,
    () => {
      run.askToStop('cancel');
    },
    {
      description: 'Cancel the task at the service: only before it is created and while it queues. Never interrupts.',
    },
  );
  setHandler(
    interruptSignal,
    () => {
      run.askToStop('interrupt');
    },
    {
      description: 'Interrupt the task at the service: while it runs; kept for then when it comes earlier.',
    },
  );
  setHandler(
    callbackSignal,
    // Any client may send anything: a signal that throws here would block the task.
    (notice?: unknown) => {
      const requestId = isRecord(notice) ? notice['requestId'] : undefined;
      if (isRequestId(requestId)) run.receiveCallback(requestId);
      else log.warn('callback ignored', { reason: notice instanceof Undecodable ? notice.reason : 'no request id' });
    },
    { description: 'A callback arrived: the task is polled now. Only the service’s answer counts.' },
  );
}

function listenToAdopt(run: TaskRun): void {
  const { decisions } = run;
  setHandler(
    adoptUpdate,
    async ({ requestId }) => {
      await requireAdoptable(run, requestId);
      decisions.take({ kind: 'adopt', requestId });
      return { words: `The task ${requestId} is followed from now on.` };
    },
    {
      description:
        'CreateUncertain: the task exists under this request id; follow it. The argument is one object, { "requestId": "…" }, with the id as the service shows it; the service is asked about it first. Costs nothing more.',
      validator: (argument?: { requestId?: unknown } | null) => {
        requireDecodable([argument]);
        if (!isRequestId(argument?.requestId)) {
          throw messageRefused(
            'The argument of "adopt" is { "requestId": "…" }: the service’s id of the task, 1 to 200 printable characters without spaces.',
          );
        }
        decisions.check('adopt');
      },
    },
  );
}

function listenToDecisions(run: TaskRun): void {
  const { decisions } = run;
  const applies = awaited(decisions);
  setHandler(
    recreateUpdate,
    () => {
      decisions.take({ kind: 'recreate' });
      return { words: 'The task is created again. If the first create was accepted, both are paid.' };
    },
    {
      description: 'CreateUncertain: create it again. May be paid twice.',
      validator: (...args: readonly unknown[]) => {
        requireDecodable(args);
        decisions.check('recreate');
        if (run.stops.isAskedBeforeCreate)
          throw messageRefused('"recreate" does not apply: a cancel was asked for, so nothing is created any more.');
      },
    },
  );
  setHandler(
    abandonUpdate,
    () => {
      decisions.take({ kind: 'abandon' });
      return { words: 'The task is given up.' };
    },
    {
      description: 'CreateUncertain, Archiving, ArchiveIncomplete: give up. What the service did may still be paid.',
      validator: applies('abandon'),
    },
  );
  setHandler(
    rearchiveUpdate,
    () => {
      decisions.take({ kind: 'rearchive' });
      return { words: 'What is missing is tried again now; the status tells what comes of it.' };
    },
    {
      description: 'Archiving, ArchiveIncomplete: try at once to archive what is missing.',
      validator: applies('rearchive'),
    },
  );
}

/** Makes validators of updates that take no argument: the decision is awaited. */
function awaited(decisions: PendingDecision): (kind: Decision['kind']) => (...args: readonly unknown[]) => void {
  return (kind) =>
    (...args) => {
      requireDecodable(args);
      decisions.check(kind);
    };
}

/**
 * Throws, in words for the person who sent it, unless the service knows the task, and no other workflow follows it or
 * created it.
 */
async function requireAdoptable({ plan: { account } }: TaskRun, requestId: string): Promise<void> {
  const { poll, follower, creator } = await checkAdoption({ account, requestId });
  if (follower !== null) {
    throw messageRefused(
      `The workflow ${follower} follows the task ${requestId} already. Nothing is decided; if it is the task of this create, give this one up with "abandon".`,
    );
  }
  if (creator !== undefined) {
    throw messageRefused(
      `The task ${requestId} was created by ${creator}, by its create record, so it is not the task of this create; check the id. Nothing is decided; the task still waits.`,
    );
  }
  if (poll.seen === 'task') return;
  const problem =
    poll.seen === 'notFound' ? `The service does not know it in the account "${account}"; check the id.` : poll.problem;
  throw messageRefused(`The task ${requestId} is not followed: ${problem} Nothing is decided; the task still waits.`);
}

/** Never cancelled: a stop that comes meanwhile ends the task that may just be found. */
async function checkAdoption(task: TaskReference): Promise<CheckAdoptionResult> {
  try {
    return await CancellationScope.nonCancellable(() =>
      activities.checkAdoption.executeWithOptions(adoptionCheckOptions, [task]),
    );
  } catch (error) {
    const problem = `The service could not be asked (${failureMessage(error)}); try again.`;
    return { poll: { seen: 'nothing', problem }, follower: null };
  }
}
