import { mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import { InputInvalidError } from '../../client/errors';
import { formatRowPlace } from '../../core/batch/row-place';
import { formatBytes, formatCount, formatCountOf, printableLine, showValue } from '../../core/text';
import type { FetchCount, FetchedBatch } from '../../archive/fetch-batch';
import { folderOfManifests } from '../../core/archive-name';
import { looksLikeMediaFile } from '../../rows';
import { type CommandContext, type Output, print, untilInterrupted } from '../command-context';
import { exitCodes } from '../exit-code';
import { repeatable } from '../shared-options';
import { fit, slowLines, TerminalLines } from '../terminal';
import { batchIdArgument } from './batch-settings';

interface ResultsOptions {
  readonly output: string;
  readonly names: string;
  readonly partial?: true;
  readonly key?: readonly string[];
  readonly gone?: true;
  readonly json?: true;
}

const help = `
LONGHAUL_ARCHIVE names the archive of the workers; Temporal is not asked. Files
are named by the key of their row (P0001.png, P0001-2.png); their manifests are
in the folder "manifests". Files that are there already with the right SHA-256
are not fetched again, so the command can be repeated. Exit code 3 when rows
could not be fetched, 2 when no row has a --key.

Examples:
  $ longhaul batch results photos -o results
  $ longhaul batch results photos -o results --names "{color}/{filename}{ext}"
`;

export function addBatchResultsCommand(program: Command, context: CommandContext): void {
  program
    .command('results')
    .summary('fetch the outputs of all rows')
    .description('Fetches the archived outputs of the rows that succeeded, and their manifests.')
    .addArgument(batchIdArgument())
    .requiredOption('-o, --output <folder>', 'the folder to fetch them into; made when it is missing')
    .option(
      '--names <template>',
      'names of the files: {key}, {filename} of the first input, {index} from 1, {ext}, and columns of the rows',
      '{key}{ext}',
    )
    .addOption(repeatable('--key <key>', 'only the row of this key; can be given several times'))
    .option('--gone', 'also rows on record that the last run did not have, as they are no longer in the row file')
    .option('--partial', 'also what is there of rows that failed or are incomplete')
    .option('--json', 'print one JSON object')
    .addHelpText('after', help)
    .action((id: string, options: ResultsOptions) => fetchResults(context, id, options));
}

async function fetchResults(context: CommandContext, id: string, options: ResultsOptions): Promise<void> {
  const { output, names: text, partial = false, key: keys, gone = false, json = false } = options;
  const { withArchive } = await import('../storage-access.js');
  const { openBatchResults } = await import('../../archive/batch-results.js');
  const { fetchBatch } = await import('../../archive/fetch-batch.js');
  const { Destination } = await import('../../archive/destination.js');
  const { parseResultNameTemplate } = await import('../../archive/result-names.js');
  const { template: names, problem } = parseResultNameTemplate(text);
  if (problem !== undefined) throw new InputInvalidError([`${problem}.`], 'arguments');
  const folder = path.resolve(context.cwd, output);
  const picture = await findOwnPicture(folder);
  if (picture !== undefined) {
    const words = `--output is ${showValue(output)}, which has files of its own (${showValue(picture)}), and a run of that folder would take the results for rows; give another folder.`;
    throw new InputInvalidError([words], 'arguments');
  }
  await withArchive(context, async (archive) => {
    const results = await openBatchResults(archive, id);
    if (results.file === null) {
      context.stderr.write(
        `No run of the batch "${id}" has ended: only rows that are on record are fetched. Rows that ended come on record page by page; to have all that ended, end the run with "longhaul batch drain ${id}".\n`,
      );
    }
    const destination = new Destination(folder);
    // By it, the folder is known when the command is repeated; one that cannot be written is reported by what follows.
    await mkdir(path.join(folder, folderOfManifests), { recursive: true }).catch(() => undefined);
    const progress = openRowProgress(context.display);
    const fetched = await untilInterrupted(context, (signal) =>
      fetchBatch(archive, results, {
        destination,
        names,
        partial,
        gone,
        signal,
        onProgress: progress.show,
        keys,
      }).finally(progress.stop),
    );
    if (fetched === undefined) return;
    const { path: place } = destination;
    print(context, json, { batchId: id, folder: place, ...fetched }, resultsText(place, fetched));
    if (fetched.failed > 0) context.exitWith(exitCodes.failed);
    else if (fetched.unknownKeys.length > 0) context.exitWith(exitCodes.badInput);
  });
}

/** A picture, video or sound of a folder into which no results were fetched before. */
async function findOwnPicture(folder: string): Promise<string | undefined> {
  const names = await readdir(folder).catch((): string[] => []);
  return names.includes(folderOfManifests) ? undefined : names.find((name) => looksLikeMediaFile(name));
}

function openRowProgress(stream: Output & NodeJS.WritableStream): {
  readonly show: (count: Readonly<FetchCount>) => void;
  readonly stop: () => void;
} {
  if (stream.isTTY === true) {
    const lines = new TerminalLines(stream, Date.now);
    const show = (count: Readonly<FetchCount>): void => {
      lines.show([() => countLine(count)]);
    };
    return { show, stop: lines.stop.bind(lines) };
  }
  const write = slowLines(stream);
  const show = (count: Readonly<FetchCount>): void => {
    write(() => countLine(count));
  };
  return { show, stop: () => undefined };
}

function countLine({ rows, failed, files, bytes, kept }: Readonly<FetchCount>): string {
  return [
    formatCountOf(rows, 'row'),
    `${formatCountOf(files, 'file')} fetched, ${formatBytes(bytes)}`,
    ...(kept > 0 ? [`${formatCountOf(kept, 'file')} there before`] : []),
    ...(failed > 0 ? [`${formatCountOf(failed, 'row')} failed`] : []),
  ].join(' · ');
}

function resultsText(folder: string, fetched: FetchedBatch): string {
  const { without, notStarted, failed, failures, goneRows, unknownKeys } = fetched;
  const ended = without - notStarted;
  const more = failed - failures.length;
  const lines = [`${countLine(fetched)}: ${folder}`];
  if (ended > 0) {
    const whom = ended === 1 ? 'it' : 'them';
    lines.push(`  ${formatCountOf(ended, 'row')} did not succeed, so there is nothing to fetch of ${whom}`);
  }
  if (notStarted > 0)
    lines.push(`  ${formatCountOf(notStarted, 'row')} ${notStarted === 1 ? 'was' : 'were'} not started`);
  if (goneRows > 0) {
    const which = `${formatCountOf(goneRows, 'row')} on record ${goneRows === 1 ? 'is' : 'are'}`;
    lines.push(`  ${which} not among those of the last run: --gone fetches them, too`);
  }
  for (const key of unknownKeys) lines.push(`  no row on record has the key ${showValue(key)}`);
  for (const row of failures) lines.push(fit(`  ${formatRowPlace(row)}, ${row.key}: ${row.message}`, Infinity));
  if (more > 0) lines.push(`  and ${formatCount(more)} more`);
  return `${lines.map(printableLine).join('\n')}\n`;
}
