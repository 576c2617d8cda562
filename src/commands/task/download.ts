import path from 'node:path';
import type { Command } from 'commander';
import { TaskFailedError, UnknownTaskError } from '../../client/errors';
import type { TaskHandle } from '../../client/task/task-handle';
import { taskCommands } from '../../contract/task-advice';
import { batchIdOf } from '../../contract/workflow-ids';
import { isRequestId } from '../../core/create-outcome';
import { isRecord } from '../../core/json';
import { formatBytes, formatCountOf, printableLine } from '../../core/text';
import type { ArchivedTask, FileProgress } from '../../archive/archived-task';
import type { KeptFile } from '../../archive/destination';
import { ResultsError } from '../../archive/errors';
import type { Archive } from '../../storage/archive/archive';
import { type CommandContext, type Output, print, untilInterrupted, withLonghaul } from '../command-context';
import { exitCodes } from '../exit-code';
import { explainFailure } from '../explained-failure';
import { idArgument } from '../shared-options';
import { fit, formatBar, TerminalLines } from '../terminal';

interface DownloadOptions {
  readonly output: string;
  readonly manifest?: string;
  readonly partial?: true;
  readonly json?: true;
}

const help = `
LONGHAUL_ARCHIVE names the archive of the workers, a folder or a bucket. A file
is kept once its SHA-256 is the one in the manifest; one that is there already
is not fetched again, so the command can be repeated.

Example:
  $ longhaul download order-17 -o photos
`;

export function addDownloadCommand(program: Command, context: CommandContext): void {
  program
    .command('download')
    .description('Fetches the archived outputs of a task that is over, and its manifest.')
    .addArgument(idArgument())
    .requiredOption('-o, --output <folder>', 'the folder to fetch them into; made when it is missing')
    .option('--manifest <name>', 'the manifest’s name in the archive, when Temporal has forgotten the task')
    .option('--partial', 'fetch what is there of an incomplete archive')
    .option('--json', 'print one JSON object')
    .addHelpText('after', help)
    .action((id: string, options: DownloadOptions) => download(context, id, options));
}

async function download(context: CommandContext, id: string, options: DownloadOptions): Promise<void> {
  const { output, manifest, partial = false, json = false } = options;
  const { withArchive } = await import('../storage-access.js');
  const { countOutputs, fetchTask, requireComplete } = await import('../../archive/archived-task.js');
  const { Destination } = await import('../../archive/destination.js');
  await withArchive(context, async (archive) => {
    const { task, failure } = await findTask(context, archive, { id, manifest, partial });
    const again = taskCommands.adopt(task.manifest.requestId);
    if (!partial)
      requireComplete(task, `Fetch what is there with --partial, or have it archived again first: ${again}`);
    const destination = new Destination(path.resolve(context.cwd, output));
    const progress = openFileProgress(context.display);
    const files = await untilInterrupted(context, (signal) =>
      fetchTask(archive, task, { destination, atOnce: 4, signal, ...progress }).finally(progress.stop),
    );
    if (files === undefined) return;
    const { missing, failed } = countOutputs(task);
    const { requestId } = task.manifest;
    const why = failure === null ? null : { type: failure.failureType, message: failure.message };
    const facts = { requestId, folder: destination.path, files, missing, failedOutputs: failed, failure: why };
    print(context, json, facts, downloadText(destination.path, files, { missing, failed }));
    if (failure !== null) {
      const { exitCode, message } = explainFailure(failure);
      context.stderr.write(`${printableLine(message)}\n`);
      context.exitWith(exitCode);
    } else if (failed > 0) context.exitWith(exitCodes.outputsFailed);
  });
}

async function findTask(
  context: CommandContext,
  archive: Archive,
  { id, manifest, partial }: { readonly id: string; readonly manifest: string | undefined; readonly partial: boolean },
): Promise<{ readonly task: ArchivedTask; readonly failure: TaskFailedError | null }> {
  const { findArchivedTask, namesOfPath, usualManifestNames } = await import('../../archive/archived-task.js');
  if (manifest !== undefined) {
    const task = await findArchivedTask(archive, namesOfPath(archive, manifest), null, null);
    if (task !== undefined) return { task, failure: null };
    throw new ResultsError(
      'missing',
      `--manifest is ${JSON.stringify(manifest)}, which is no manifest in ${archive.location}.`,
    );
  }
  const end = await withLonghaul(context, {}, (longhaul) => readEnd(longhaul.task(id), archive, partial));
  const names = [
    ...(end.manifest === null ? [] : namesOfPath(archive, end.manifest)),
    ...(end.requestId === null ? [] : usualManifestNames(id, end.requestId)),
  ];
  const task = await findArchivedTask(archive, names, end.requestId, id);
  if (task !== undefined) return { task, failure: end.failure };
  if (end.failure !== null) throw end.failure;
  const where = end.manifest ?? names[0] ?? 'its manifest';
  const words = `The archive ${archive.location} does not have ${where} of ${id}. Check that LONGHAUL_ARCHIVE is the archive of its worker, or name the manifest with --manifest.`;
  throw new ResultsError('missing', words);
}

interface TaskEnd {
  readonly requestId: string | null;
  /** Where its worker says that its manifest is. */
  readonly manifest: string | null;
  readonly failure: TaskFailedError | null;
}

async function readEnd(task: TaskHandle, archive: Archive, partial: boolean): Promise<TaskEnd> {
  const { workflowId } = task;
  try {
    const view = await task.status();
    if (!view.isOver) {
      const { requestId } = view;
      if (view.status !== 'ArchiveIncomplete') {
        const words = `The task ${workflowId} still runs (${view.status}), so its outputs are not archived yet. Follow it: ${taskCommands.follow(workflowId)}`;
        throw new ResultsError('notYet', words);
      }
      if (partial) return { requestId, manifest: null, failure: null };
      const words = `The archive of ${workflowId} is incomplete, and its worker goes on trying: ${view.problem?.message ?? 'outputs are missing'} Fetch what is there with --partial, or have it tried at once: ${taskCommands.rearchive(workflowId)}`;
      throw new ResultsError('incomplete', words);
    }
    const { requestId, manifest, status } = await task.result();
    if (status === 'Canceled' && manifest === null) {
      throw new ResultsError('canceled', `The task ${workflowId} was stopped, and left no outputs.`);
    }
    return { requestId, manifest, failure: null };
  } catch (error) {
    if (error instanceof TaskFailedError) {
      // It may have left outputs; its failure says where.
      const { details } = error;
      const { manifest, requestId } = isRecord(details) && isRecord(details['result']) ? details['result'] : {};
      return {
        manifest: typeof manifest === 'string' ? manifest : null,
        requestId: typeof requestId === 'string' ? requestId : error.requestId,
        failure: error,
      };
    }
    if (!(error instanceof UnknownTaskError) || batchIdOf(workflowId) !== undefined) throw error;
    // Temporal forgets a task; its create record stays.
    const { readCreates } = await import('../../archive/archive-reader.js');
    for await (const { requestId } of readCreates(archive, workflowId)) {
      if (isRequestId(requestId)) return { requestId, manifest: null, failure: null };
    }
    throw error;
  }
}

const barWidth = 20;
const longestLine = 500;

/** On a terminal a line for each file on its way, elsewhere one for each that has come. */
function openFileProgress(stream: Output & NodeJS.WritableStream): {
  readonly onProgress?: (file: FileProgress) => void;
  readonly onFile?: (file: KeptFile) => void;
  readonly stop: () => void;
} {
  if (stream.isTTY !== true) {
    const onFile = ({ path: file, bytes, isNew }: KeptFile): void => {
      stream.write(`${fit(`${isNew ? 'fetched' : 'here   '}  ${file}  (${formatBytes(bytes)})`, longestLine)}\n`);
    };
    return { onFile, stop: () => undefined };
  }
  const lines = new TerminalLines(stream, Date.now);
  const shown = new Map<string, FileProgress>();
  return {
    onProgress: (file) => {
      if (file.bytes === file.totalBytes) shown.delete(file.name);
      else shown.set(file.name, file);
      lines.show([...shown.values()].map((one) => () => fileLine(one)));
    },
    stop: () => {
      lines.stop();
    },
  };
}

function fileLine({ name, bytes, totalBytes }: FileProgress): string {
  const bar = totalBytes === null || totalBytes === 0 ? '' : ` ${formatBar(Math.min(1, bytes / totalBytes), barWidth)}`;
  return `  fetching ${name}${bar} ${formatBytes(bytes)}`;
}

function downloadText(
  folder: string,
  files: readonly KeptFile[],
  { missing, failed }: { readonly missing: number; readonly failed: number },
): string {
  const fetched = files.filter(({ isNew }) => isNew);
  const bytes = fetched.reduce((sum, file) => sum + file.bytes, 0);
  const counts = [`${formatCountOf(fetched.length, 'file')} fetched, ${formatBytes(bytes)}`];
  if (files.length > fetched.length) counts.push(`${files.length - fetched.length} there before`);
  if (missing > 0) counts.push(`${missing} missing in the archive`);
  if (failed > 0) counts.push(`${failed} failed at the service`);
  const lines = [`${counts.join('; ')}: ${folder}`, ...files.map(({ path: file }) => `  ${file}`)];
  return `${lines.map(printableLine).join('\n')}\n`;
}
