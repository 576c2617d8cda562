import type { Command } from 'commander';
import { InputInvalidError, ReplyInvalidError, TaskFailedError } from '../../client/errors';
import { isTaskResult } from '../../contract/task-result';
import type { Longhaul } from '../../client/longhaul';
import type { TaskHandle } from '../../client/task/task-handle';
import type { TaskView } from '../../client/task/task-view';
import { parseTaskInput } from '../../contract/parse-task-input';
import { afterAdoption, isCutOff, taskCommands } from '../../contract/task-advice';
import { batchIdOf } from '../../contract/workflow-ids';
import { isRecord } from '../../core/json';
import { redact } from '../../core/redact';
import { statesThatWait } from '../../core/task-state';
import { errorMessage } from '../../core/text';
import type { Archive } from '../../storage/archive/archive';
import { type CommandContext, printJson, withLonghaul } from '../command-context';
import { exitCodes } from '../exit-code';
import { isForPerson } from '../explained-failure';
import { followToTheEnd } from './follow-task';
import { idArgument } from '../shared-options';
import { outcomeLines, statusText, type TaskOutcome } from './task-text';

interface StatusOptions {
  readonly follow?: true;
  readonly json?: boolean;
}

export function addStatusCommand(program: Command, context: CommandContext): void {
  program
    .command('status')
    .description('Shows what a task is doing, what it waits for, and what became of each request to end it.')
    .addArgument(idArgument())
    .option('--follow', 'stay until it ends and print its result, as "run" does')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  $ longhaul status order-17 --follow\n')
    .action(async (id: string, { follow, json = false }: StatusOptions) => {
      const batch = batchIdOf(id);
      if (batch !== undefined) {
        const problem = `${id} is a batch and no task. See "longhaul batch status ${batch}".`;
        throw new InputInvalidError([problem], 'arguments');
      }
      await withLonghaul(context, {}, async (longhaul) => {
        const task = longhaul.task(id);
        if (follow === true) {
          await followToTheEnd(context, task, json);
          return;
        }
        const { view, isSettled } = await withSettlement(context, longhaul, await task.status());
        const outcome = view.isOver ? afterCutOff(view, await readOutcome(task)) : null;
        if (json) printJson(context, { ...view, ...outcome });
        else {
          // The failure says it, with its type.
          const shown = outcome?.failure == null ? view : { ...view, problem: null, note: null };
          context.stdout.write(
            `${[statusText(shown, Date.now()), ...(outcome === null ? [] : outcomeLines(outcome))].join('\n')}\n`,
          );
        }
        if (!isSettled && isLeftToPerson(view, outcome)) context.exitWith(exitCodes.needsPerson);
      });
    });
}

/** Null for a task that another program ended. */
async function readOutcome(task: TaskHandle): Promise<TaskOutcome | null> {
  try {
    return { result: await task.result(), failure: null };
  } catch (error) {
    if (error instanceof ReplyInvalidError) return null;
    if (!(error instanceof TaskFailedError)) throw error;
    const { details, failureType: type, message, requestId } = error;
    const found: unknown = isRecord(details) ? details['result'] : undefined;
    return { result: isTaskResult(found) ? found : { requestId }, failure: { type, message: redact(message) } };
  }
}

/** The note says what became of a task whose workflow was cut off; the failure knows only that it was. */
function afterCutOff({ note }: TaskView, outcome: TaskOutcome | null): TaskOutcome | null {
  if (note === null || outcome?.failure == null) return outcome;
  return { ...outcome, failure: { ...outcome.failure, message: note } };
}

/** Whether it waits for a decision, is stuck or paused, or ended so that a person should check. */
function isLeftToPerson({ status, execution, isOver, stuck }: TaskView, outcome: TaskOutcome | null): boolean {
  if (!isOver) return stuck !== null || execution === 'PAUSED' || statesThatWait.some((state) => state === status);
  return outcome?.failure != null && isForPerson(outcome.failure.type);
}

/** `isSettled`: nothing is left to do for a person, although the workflow was cut off. */
type Settlement = { readonly isSettled: boolean } & Partial<TaskView>;

/**
 * Adds what became of a task whose workflow was cut off: the workflow that took it over; with LONGHAUL_ARCHIVE also the
 * task of its create record, who follows that, and its outputs. An unreadable archive is told on standard error.
 */
async function withSettlement(context: CommandContext, longhaul: Longhaul, view: TaskView) {
  const known = { view, isSettled: view.adoptedBy !== null };
  if (!isCutOff(view.execution) || known.isSettled || (context.env['LONGHAUL_ARCHIVE'] ?? '') === '') return known;
  const { withArchive } = await import('../storage-access.js');
  try {
    return await withArchive(context, async (archive) => {
      await requireOwnArchive(context, archive, view.taskQueue);
      const { isSettled, ...found } = await readSettlement(archive, longhaul, view);
      return { view: { ...view, ...found }, isSettled };
    });
  } catch (error) {
    context.stderr.write(`warning: What became of the task since is not known: ${errorMessage(error)}\n`);
    return known;
  }
}

/** In another archive no create would be found. */
async function requireOwnArchive({ env }: CommandContext, archive: Archive, taskQueue: string): Promise<void> {
  const [{ requireUsedArchive }, { requireArchiveOfTasks }, { askForOtherArchive }, { loadTemporalConnection }] =
    await Promise.all([
      import('../storage-access.js'),
      import('../../storage/archive/archive-identity.js'),
      import('../../client/archive-of-tasks.js'),
      import('../../config/temporal-connection.js'),
    ]);
  await requireUsedArchive(archive);
  await requireArchiveOfTasks(archive, (identity) => {
    const replaces = env['LONGHAUL_REPLACES_ARCHIVE'] ?? null;
    return askForOtherArchive(loadTemporalConnection(env), taskQueue, { identity, replaces });
  });
}

async function readSettlement(archive: Archive, longhaul: Longhaul, view: TaskView): Promise<Settlement> {
  const { cutOffWords } = await import('../../client/task/task-view.js');
  const { readCreates } = await import('../../archive/archive-reader.js');
  const { workflowId } = view;
  const cut = cutOffWords(view.execution);
  const { value: record } = await readCreates(archive, workflowId).next();
  const requestId = view.requestId ?? record?.requestId ?? null;
  if (requestId === null) {
    // With an open record it is as uncertain as it was.
    if (record !== undefined) return { isSettled: false };
    const note = `${cut}. The archive has no record of a create: none was sent, or it is settled that none made a task. Nothing is paid.`;
    return { isSettled: true, note, nextStep: null };
  }
  const isByRecord = view.requestId === null;
  const made = isByRecord ? ` By its create record, it made the task ${requestId}.` : '';
  const adoptedBy = isByRecord ? await followerOf(longhaul, workflowId, requestId) : null;
  if (adoptedBy !== null) {
    const note = `${cut}, and ${adoptedBy} took its task over.${made}`;
    return { isSettled: true, requestId, adoptedBy, note, nextStep: afterAdoption(adoptedBy) };
  }
  const manifest = await findManifest(archive, longhaul, workflowId, requestId);
  if (manifest !== undefined) {
    const note = `${cut}.${made} Its outputs are archived: ${manifest}`;
    return { isSettled: true, requestId, note, nextStep: null };
  }
  if (!isByRecord) return { isSettled: false };
  const nextStep = `${taskCommands.adopt(requestId)} follows and archives it, at no cost`;
  return { isSettled: false, requestId, note: `${cut}, so nothing follows the task.${made}`, nextStep };
}

/** The workflow of another id that runs with this task, else the last that ended. */
async function followerOf(longhaul: Longhaul, workflowId: string, requestId: string): Promise<string | null> {
  for await (const task of longhaul.list({ requestIds: [requestId] })) {
    if (task.workflowId !== workflowId) return task.workflowId;
  }
  return null;
}

/** Where the manifest of the task is that has all of its outputs; undefined without one. */
async function findManifest(
  archive: Archive,
  longhaul: Longhaul,
  workflowId: string,
  requestId: string,
): Promise<string | undefined> {
  const { findArchivedTask, usualManifestNames } = await import('../../archive/archived-task.js');
  const usual = usualManifestNames(workflowId, requestId);
  const input = await longhaul.task(workflowId).input();
  const folder = (input === null ? undefined : parseTaskInput(input).plan)?.archiveFolder ?? '';
  const own = folder === '' ? [] : usual.slice(-1).map((name) => `${folder}/${name}`);
  const task = await findArchivedTask(archive, [...own, ...usual], requestId, workflowId);
  return task?.manifest.complete === true ? archive.locate(task.name) : undefined;
}
