import type { TaskView } from '../client/task-view';
import type { TransferProgress } from '../contract/activities';
import { formatClock, shorten } from './format';
import { formatBytes } from '../domain/text';

const barWidth = 20;
const nameWidth = 24;

/** What a task is doing, in one line: state, queue position, elapsed time, request id, and trouble if there is any. */
export function statusLine(view: TaskView, elapsedMs: number): string {
  return [`${formatClock(elapsedMs)}  ${stateWords(view)}`, ...detailWords(view)].join(' · ');
}

/** The same without the time: two equal texts mean that nothing changed. */
export function stateWords({ status, serviceStatus, queuePosition }: TaskView): string {
  const isWatched = status === 'Watching' && serviceStatus !== null;
  const state = isWatched ? `${status}: ${serviceStatus}` : status;
  if (queuePosition === null || (isWatched ? serviceStatus : status) !== 'Queuing') return state;
  return queuePosition > 0 ? `${state}, ${queuePosition} ahead` : `${state}, next`;
}

/** What stands behind the state. */
export function detailWords({ requestId, problem, retrying, stuck, note }: TaskView): string[] {
  const [retry] = retrying;
  const trouble =
    stuck?.message ?? problem ?? (retry && `${retry.activity}, attempt ${retry.attempt}: ${retry.lastFailure}`) ?? note;
  return [...(requestId === null ? [] : [`request ${shorten(requestId)}`]), ...(trouble === null ? [] : [trouble])];
}

/** A transfer in one line, with a bar where the length is known. */
export function transferLine({ transfer, name, bytes, totalBytes }: TransferProgress): string {
  const verb = transfer === 'upload' ? 'uploading' : 'archiving';
  const head = `  ${verb} ${shorten(baseName(name), nameWidth).padEnd(nameWidth + 1)}`;
  if (totalBytes === null || totalBytes <= 0) return `${head} ${formatBytes(bytes)}`;
  const share = Math.min(1, bytes / totalBytes);
  const done = Math.round(share * barWidth);
  const percent = String(Math.floor(share * 100)).padStart(3);
  return `${head} [${'█'.repeat(done)}${'░'.repeat(barWidth - done)}] ${percent} % of ${formatBytes(totalBytes)}`;
}

function baseName(file: string): string {
  return file.split(/[/\\]/).at(-1) ?? file;
}
