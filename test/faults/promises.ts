import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ObjectStore } from '../../reference-service/storage/object-store';
import type { TaskView } from '../../src/client/task/task-view';
import { listFiles } from '../support/list-files';
import { leakedSecrets } from './leaked-secrets';
import type { StackUnderTest, TaskUnderTest } from './task-under-test';

/** What Longhaul may leave in the archive: records of creates, outputs, manifests. */
const lasting = /^(\.creates\/[0-9a-f]{2}\/[^/]+\.\d+\.json|[^/.][^/]*\/(\d+\.[a-z0-9]+|manifest\.json))$/;
/** What Node writes of an error that nobody caught. */
const uncaught = /unhandled|uncaught|triggerUncaughtException/i;
/** A task that is open in one of these waits for a person, who can see it. */
const parked = ['CreateUncertain', 'ArchiveIncomplete'];

/**
 * The promises, whatever happened: what of them does not hold for these tasks, in words; nothing when all of it holds.
 * The tasks are over or wait for a person; others may still be at work.
 */
export async function brokenPromises(stack: StackUnderTest, tasks: readonly TaskUnderTest[]): Promise<string[]> {
  const store = new ObjectStore(stack.parts.storage, stack.parts.service.bucket, 'path');
  try {
    const broken: string[] = [];
    for (const task of tasks) broken.push(...(await brokenFor(stack, store, task)));
    return [...broken, ...leftovers(stack, tasks), ...deaths(stack), ...(await leakedSecrets(stack, tasks))];
  } finally {
    store.close();
  }
}

async function brokenFor(stack: StackUnderTest, store: ObjectStore, task: TaskUnderTest): Promise<string[]> {
  const view = await task.handle.status();
  const broken = [...unfinished(view), ...paidTwice(task), ...orphaned(stack, task, view)];
  return [...broken, ...(await lost(stack, store, task, view))].map((words) => `${task.key}: ${words}`);
}

function unfinished({ isOver, status }: TaskView): string[] {
  return isOver || parked.includes(status) ? [] : [`is neither over nor waits for a person, but is ${status}`];
}

function paidTwice({ acceptedCreates: { length } }: TaskUnderTest): string[] {
  return length > 1 ? [`was created ${length} times`] : [];
}

/** Over for Longhaul, and still running at the service. */
function orphaned(stack: StackUnderTest, task: TaskUnderTest, view: TaskView): string[] {
  const made = stack.parts.service.tasks.find(task.requestId ?? '');
  return made === undefined || made.isEnded || !view.isOver ? [] : [`is over, and ${made.status} at the service`];
}

/** Whatever succeeded at the service is in the archive, byte for byte, and its manifest says so. */
async function lost(stack: StackUnderTest, store: ObjectStore, task: TaskUnderTest, view: TaskView): Promise<string[]> {
  const made = stack.parts.service.tasks.find(task.requestId ?? '');
  if (made?.status !== 'Success' || !view.isOver) return [];
  const folder = join(stack.parts.archive, made.requestId);
  const problems: string[] = [];
  const sums: string[] = [];
  for (const [index, { objectKey, ext }] of made.outputs.entries()) {
    const path = join(folder, `${index}${ext}`);
    const sum = sha256(await store.read(objectKey));
    sums.push(sum);
    if (sum !== task.sha256) problems.push('ran on another file than it was given');
    if (!existsSync(path)) problems.push(`lost its output ${index}`);
    else if (sha256(readFileSync(path)) !== sum) problems.push(`archived another output ${index} than the service has`);
  }
  const manifest = join(folder, 'manifest.json');
  const listed = existsSync(manifest) ? readFileSync(manifest, 'utf8') : '';
  if (!sums.every((sum) => listed.includes(sum))) problems.push('has no manifest with the hashes of its outputs');
  return problems;
}

/** Files that are no whole result: of these tasks, or of none. */
function leftovers(stack: StackUnderTest, tasks: readonly TaskUnderTest[]): string[] {
  const own = new Set(tasks.map(({ requestId }) => requestId));
  return listFiles(stack.parts.archive)
    .filter((file) => !lasting.test(file) && own.has(file.split('/')[0]))
    .map((file) => `${file} was left in the archive`);
}

/** Processes that ended by themselves, and errors that nobody caught. */
export function deaths(stack: StackUnderTest): string[] {
  const logs = stack.parts.logFiles.flatMap((file) => {
    const lines = readFileSync(file, 'utf8').split('\n');
    return lines.filter((line) => uncaught.test(line)).map((line) => `an error that nobody caught: ${line}`);
  });
  return [...stack.unexpectedEnds, ...logs];
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
