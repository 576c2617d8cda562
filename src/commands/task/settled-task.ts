import type { Longhaul } from '../../client/longhaul';
import type { TaskView } from '../../client/task/task-view';
import { parseTaskInput } from '../../contract/parse-task-input';
import { afterAdoption, isCutOff, taskCommands } from '../../contract/task-advice';
import { errorMessage } from '../../core/text';
import type { Archive } from '../../storage/archive/archive';
import type { CommandContext } from '../command-context';

/** A task as it stands. */
export interface SettledView {
  readonly view: TaskView;
  /** Whether nothing is left to do for a person although its workflow was cut off. */
  readonly isSettled: boolean;
}

/**
 * The view of a task whose workflow was cut off, with what became of it since: by Temporal alone, the workflow that took
 * it over; where LONGHAUL_ARCHIVE is set, the task that its create record names, who follows that, and its outputs. An
 * archive that cannot be read is told on standard error.
 */
export async function withSettlement(
  context: CommandContext,
  longhaul: Longhaul,
  view: TaskView,
): Promise<SettledView> {
  const known = { view, isSettled: view.adoptedBy !== null };
  if (!isCutOff(view.execution) || known.isSettled || (context.env['LONGHAUL_ARCHIVE'] ?? '') === '') return known;
  // Loaded on demand: the storage would slow the start of every other command.
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

/** By the files of another archive nothing would have been created. */
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

type Settlement = Pick<SettledView, 'isSettled'> & Partial<TaskView>;

async function readSettlement(archive: Archive, longhaul: Longhaul, view: TaskView): Promise<Settlement> {
  const { cutOffWords } = await import('../../client/task/task-view.js');
  const { readCreates } = await import('../../archive/archive-reader.js');
  const { workflowId } = view;
  const cut = cutOffWords(view.execution);
  const { value: record } = await readCreates(archive, workflowId).next();
  const requestId = view.requestId ?? record?.requestId ?? null;
  if (requestId === null) {
    // An open record leaves it as uncertain as it was.
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
