import { CancellationScope, log, setHandler } from '@temporalio/workflow';
import { Undecodable } from '../../contract/input-bounds';
import {
  abandonUpdate,
  adoptUpdate,
  callbackSignal,
  cancelSignal,
  type DecisionTaken,
  interruptSignal,
  rearchiveUpdate,
  recreateUpdate,
  statusQuery,
} from '../../contract/task-messages';
import { isRequestId } from '../../core/create-outcome';
import { isRecord } from '../../core/json';
import { messageRefused } from '../failures';
import { onQuery, onUpdate } from '../handlers';
import { taskStatus } from './display';
import { askToStop, isStoppedBeforeCreate } from './stop';
import { receiveCallback, requireAwaited, takeDecision, type TaskRun } from './task-run';
import { requireAdoptable } from './uncertain-create';

/** Called before the first await, to miss no message. */
export function listen(run: TaskRun): void {
  CancellationScope.current().cancelRequested.catch(() => {
    run.state.isCancellationRequested = true;
    askToStop(run, 'stop');
  });
  onQuery(statusQuery, 'What the task is doing, and what became of each request.', () => taskStatus(run));
  setHandler(
    cancelSignal,
    () => {
      askToStop(run, 'cancel');
    },
    { description: 'Cancel the task at the service: only before it is created and while it queues. Never interrupts.' },
  );
  setHandler(
    interruptSignal,
    () => {
      askToStop(run, 'interrupt');
    },
    { description: 'Interrupt the task at the service: while it runs; kept for then when it comes earlier.' },
  );
  setHandler(
    callbackSignal,
    // Any client may send anything: a signal that throws would block the task.
    (notice?: unknown) => {
      const { requestId, createNumber } = isRecord(notice) ? notice : {};
      if (isRequestId(requestId)) receiveCallback(run, requestId, createNumber);
      else log.warn('callback ignored', { reason: notice instanceof Undecodable ? notice.reason : 'no request id' });
    },
    { description: 'A callback arrived: the task is polled now. Only the service’s answer counts.' },
  );
  onUpdate(
    adoptUpdate,
    'CreateUncertain: the task exists under this request id; follow it. The argument is one object, { "requestId": "…" }, with the id as the service shows it; the service is asked about it first, and a task that another create made, or may have made, is refused without "force": true. Costs nothing more.',
    async ({ requestId, force }) => {
      await requireAdoptable(run, requestId, force === true);
      takeDecision(run, { kind: 'adopt', requestId });
      return { words: `The task ${requestId} is followed from now on.` };
    },
    (argument?: { requestId?: unknown } | null) => {
      if (!isRequestId(argument?.requestId)) {
        throw messageRefused(
          'The argument of "adopt" is { "requestId": "…" }: the service’s id of the task, 1 to 200 printable characters without spaces.',
        );
      }
      requireAwaited(run, 'adopt');
    },
  );
  listenToDecisions(run);
}

function listenToDecisions(run: TaskRun): void {
  for (const [update, kind, description, words] of [
    [
      recreateUpdate,
      'recreate',
      'CreateUncertain: create it again. May be paid twice.',
      'The task is created again. If the first create was accepted, both are paid.',
    ],
    [
      abandonUpdate,
      'abandon',
      'CreateUncertain, Archiving, ArchiveIncomplete: give up. What the service did may still be paid.',
      'The task is given up.',
    ],
    [
      rearchiveUpdate,
      'rearchive',
      'Archiving, ArchiveIncomplete: try at once to archive what is missing.',
      'What is missing is tried again now; the status tells what comes of it.',
    ],
  ] as const) {
    const take = (): DecisionTaken => {
      takeDecision(run, { kind });
      return { words };
    };
    onUpdate(update, description, take, () => {
      requireAwaited(run, kind);
      if (kind !== 'recreate' || !isStoppedBeforeCreate(run)) return;
      throw messageRefused('"recreate" does not apply: a cancel was asked for, so nothing is created any more.');
    });
  }
}
