import { CancellationScope, setHandler } from '@temporalio/workflow';
import {
  abandonUpdate,
  adoptUpdate,
  callbackSignal,
  cancelSignal,
  interruptSignal,
  rearchiveUpdate,
  recreateUpdate,
  statusQuery,
} from '../contract/messages';
import { isRequestId } from '../domain/request-id';
import type { TaskRun } from './task-run';

/** Registers every handler of the `task` workflow; before the first await, so that no message is missed. */
export function listen(run: TaskRun): void {
  CancellationScope.current().cancelRequested.catch(() => {
    run.isCancellationRequested = true;
    run.askToStop('stop');
  });
  setHandler(statusQuery, () => run.view(), {
    description: 'What the task is doing, and what became of each request.',
  });
  listenToVerbs(run);
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
    // Anybody may send anything: a signal that throws here would wedge the task.
    (notice?: { requestId?: unknown }) => {
      if (isRequestId(notice?.requestId)) run.hearCallback(notice.requestId);
    },
    { description: 'A callback arrived: the task is looked at now. Believed is what the service then says.' },
  );
}

function listenToDecisions(run: TaskRun): void {
  const { decisions } = run;
  setHandler(
    adoptUpdate,
    ({ requestId }) => {
      decisions.take({ kind: 'adopt', requestId });
      return { words: `The task ${requestId} is followed from now on.` };
    },
    {
      description: 'CreateUncertain: the task exists under this request id; follow it. Costs nothing more.',
      validator: (argument?: { requestId?: unknown }) => {
        if (!isRequestId(argument?.requestId))
          throw new Error('Give { "requestId": "…" }, as the service names the task.');
        decisions.check('adopt');
      },
    },
  );
  setHandler(
    recreateUpdate,
    () => {
      decisions.take({ kind: 'recreate' });
      return { words: 'The task is created again. If the first create was accepted, both are paid.' };
    },
    {
      description: 'CreateUncertain: create it again. May be paid twice.',
      validator: () => {
        decisions.check('recreate');
        if (run.isStopAskedBeforeCreate)
          throw new Error('"recreate" does not apply: a cancel was asked for, so nothing is created any more.');
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
      description: 'CreateUncertain, ArchiveIncomplete: give up. What the service did may still be paid.',
      validator: () => {
        decisions.check('abandon');
      },
    },
  );
  setHandler(
    rearchiveUpdate,
    () => {
      decisions.take({ kind: 'rearchive' });
      return { words: 'The missing outputs are fetched again.' };
    },
    {
      description: 'ArchiveIncomplete: try again to archive what is missing.',
      validator: () => {
        decisions.check('rearchive');
      },
    },
  );
}
