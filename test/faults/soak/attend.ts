import type { TaskView } from '../../../src/client/task/task-view';
import type { TaskHandle } from '../../../src/client/task/task-handle';
import { faultTuning } from '../task-under-test';

/** What a person does about a task: the documented decisions. */
export type Attention = 'nothing' | 'adopt' | 'recreate' | 'rearchive' | 'start again';

/** What a person needs to know of a task, and can do with it. */
export interface AttendedTask {
  readonly handle: TaskHandle;
  /** The request id that the service's own list has; undefined when there is none. */
  readonly requestId: string | undefined;
  /** A row is started again by its batch alone. */
  readonly start?: (retry: boolean) => Promise<unknown>;
}

/** As long as a create on its way can still arrive, and a callback be on its way. */
const waitBeforeDecidingMs = (faultTuning.createTimeoutMs ?? 0) + 5_000;
/** Nobody minds that it failed: what the failure says has to be done is done. */
const unconfirmed = 'it may run at the service';

/** Does for one task what a person who reads its status would do. */
export async function attend(task: AttendedTask, view: TaskView, nowMs = Date.now()): Promise<Attention> {
  const attention = attentionFor(task, view, nowMs);
  switch (attention) {
    case 'adopt':
      await task.handle.adopt(task.requestId ?? '');
      break;
    case 'recreate':
      await task.handle.recreate();
      break;
    case 'rearchive':
      await task.handle.rearchive();
      break;
    case 'start again':
      await task.start?.(true);
      break;
    case 'nothing':
      break;
  }
  return attention;
}

function attentionFor(task: AttendedTask, view: TaskView, nowMs: number): Attention {
  const { status, execution, nextStep } = view;
  const isCutOff = execution === 'TERMINATED' || (execution === 'FAILED' && nextStep?.startsWith(unconfirmed));
  if (isCutOff) return 'start again';
  if (view.isOver) return 'nothing';
  if (status === 'ArchiveIncomplete') return 'rearchive';
  const hasWaited = view.since !== null && nowMs - Date.parse(view.since) > waitBeforeDecidingMs;
  if (status !== 'CreateUncertain' || !hasWaited) return 'nothing';
  // The person looks into the service's own list.
  return task.requestId === undefined ? 'recreate' : 'adopt';
}
