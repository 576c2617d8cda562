import path from 'node:path';
import { Command, CommanderError } from 'commander';
import { InputInvalidError, LonghaulError } from '../../client/errors';
import { findArchivePlace } from '../../config/client-config';
import { ConfigError } from '../../config/environment';
import type { BatchCommand } from '../../contract/batch/batch-command';
import { batchIdOf } from '../../contract/workflow-ids';
import { shellWord } from '../../core/text';
import { isUri } from '../../core/uri';
import { parseVary } from '../../rows';
import { ResultsError } from '../../archive/errors';
import { ArchiveError } from '../../storage/errors';
import { type CommandContext, withLonghaul } from '../command-context';
import { idOfFiles } from './batch-settings';
import { inTime } from './file-estimate';
import { hasTemporal } from './record-lookup';

/** As commander gives them, by the names of options. */
type Given = Readonly<Record<string, unknown>>;

/** Adds the options of `batch run`. */
type Define = (command: Command) => Command;

/** Of one run alone: what it shows, and what it may pay anew. */
// prettier-ignore
const ofOneRun = new Set([
  'id', 'dryRun', 'prepare', 'first', 'problems', 'detach', 'json', 'retryFailed', 'allowChanged', 'allowNew',
]);
/** One that is given replaces those of its input alone. */
const ofInputs = ['input', 'string', 'vary'] as const;

const answerWithinMs = 5_000;
const maxListedBatches = 1_000;

/** What started the batch last; undefined where that is not known. */
export async function readCommand(context: CommandContext, id: string): Promise<BatchCommand | undefined> {
  const place = findArchivePlace(context.env);
  const fromArchive =
    place === null
      ? undefined
      : await ifKnown(async () => {
          const { openArchive } = await import('../../storage/archive/open-archive.js');
          const { readBatchLayout } = await import('../../archive/archive-reader.js');
          return (await readBatchLayout(openArchive(place), id))?.command;
        });
  if (fromArchive !== undefined || !hasTemporal(context.env)) return fromArchive;
  const input = await ifKnown(() => withLonghaul(context, {}, (longhaul) => longhaul.batch(id).input()));
  return input?.command;
}

/** The ids of batches that were started with these files, as far as Temporal knows. */
async function findBatches(context: CommandContext, files: readonly string[]): Promise<readonly string[]> {
  if (files.length === 0 || !hasTemporal(context.env)) return [];
  const wanted = files.join('\n');
  const found = await ifKnown(() =>
    withLonghaul(context, {}, async (longhaul) => {
      const ids: string[] = [];
      for await (const batch of longhaul.listBatches({ limit: maxListedBatches })) {
        if (batch.files?.join('\n') === wanted) ids.push(batch.batchId);
      }
      return ids;
    }),
  );
  return found ?? [];
}

/** A run goes on without what does not answer: rows that it would change are refused then. */
async function ifKnown<Known>(read: () => Promise<Known>): Promise<Known | undefined> {
  try {
    return await inTime(answerWithinMs, read);
  } catch (error) {
    const isExpected = [LonghaulError, ConfigError, ArchiveError, ResultsError].some((type) => error instanceof type);
    if (isExpected) return undefined;
    throw error;
  }
}

/**
 * The command with the options on record of its batch that it does not give itself. A command without `--id` and other
 * options goes on with the one batch that has its files. Throws {@link InputInvalidError} where that is not clear.
 */
export async function withRemembered<Options extends { readonly id?: string; readonly folder?: string }>(
  context: CommandContext,
  define: Define,
  files: readonly string[],
  given: Options,
): Promise<Options> {
  const own = { ...given } as Given;
  const absolute = files.map((file) => path.resolve(context.cwd, file));
  const fileId = ownId(files, context.cwd);
  const isBare = toWords(define, own).length === 0;
  const named = given.id === undefined ? undefined : (batchIdOf(given.id) ?? given.id);
  const found = named ?? chooseBatch(await findBatches(context, absolute), fileId, isBare);
  const id = found ?? fileId;
  const command = id === undefined ? undefined : await readCommand(context, id);
  if (id === undefined || command === undefined) return found === undefined ? given : { ...given, id: found };
  const taken = withoutGiven(parseWords(define, command.options), own);
  const words = [...(id === named || id === fileId ? [] : ['--id', id]), ...toWords(define, taken)];
  if (words.length > 0) {
    context.stderr.write(`From the record of batch:${id}: ${words.map(shellWord).join(' ')}\n`);
  }
  const lists = [...ofInputs, 'as'].map((name) => [name, [...textsOf(taken, name), ...textsOf(own, name)]] as const);
  const folder = command.files.join('\n') === absolute.join('\n') ? command.folder : undefined;
  return { ...taken, ...given, ...Object.fromEntries(lists.filter(([, texts]) => texts.length > 0)), id, folder };
}

/** Undefined for none or several files, and for results. */
function ownId(files: readonly string[], cwd: string): string | undefined {
  if (files.length === 0) return undefined;
  try {
    return idOfFiles(files, cwd);
  } catch (error) {
    if (error instanceof InputInvalidError) return undefined;
    throw error;
  }
}

function chooseBatch(ids: readonly string[], fileId: string | undefined, isBare: boolean): string | undefined {
  const [id, ...others] = ids;
  if (id === undefined || (others.length === 0 && (isBare || id === fileId))) return id;
  const list = ids
    .slice(0, 5)
    .map((one) => shellWord(one))
    .join(', ');
  const batches = `${others.length === 0 ? 'the batch' : 'several batches:'} ${list}${ids.length > 5 ? ', …' : ''}`;
  const apart = fileId === undefined || ids.includes(fileId) ? '' : ` A batch of its own is --id ${shellWord(fileId)}.`;
  throw new InputInvalidError([`The file was run as ${batches}; say by --id with which to go on.${apart}`], 'batch');
}

function textsOf(options: Given, name: string): readonly string[] {
  const value = options[name];
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

function inputOf(text: string): string {
  return text.slice(0, Math.max(0, text.indexOf('=')));
}

function withoutGiven(known: Given, given: Given): Given {
  const inputs = new Set(ofInputs.flatMap((name) => textsOf(given, name).map(inputOf)));
  const forms = new Set(textsOf(given, 'as').map(inputOf));
  const entries = Object.entries(known).flatMap(([name, value]): (readonly [string, unknown])[] => {
    // A larger grid is confirmed anew.
    if (ofOneRun.has(name) || (name === 'yes' && given['vary'] !== undefined)) return [];
    const isInput = ofInputs.some((one) => one === name);
    if (!isInput && name !== 'as') return given[name] === undefined ? [[name, value]] : [];
    const kept = textsOf(known, name).filter((text) => !(isInput ? inputs : forms).has(inputOf(text)));
    return kept.length === 0 ? [] : [[name, kept]];
  });
  return Object.fromEntries(entries);
}

/** Without those of one run. */
function toWords(define: Define, options: Given): string[] {
  return define(new Command()).options.flatMap((option) => {
    const name = option.attributeName();
    const value = options[name];
    const { long } = option;
    if (value === undefined || ofOneRun.has(name) || long == null) return [];
    if (value === true) return [long];
    const texts = typeof value === 'string' ? [value] : textsOf(options, name);
    return texts.flatMap((text) => [long, text]);
  });
}

/** Throws {@link InputInvalidError} for options of another version. */
function parseWords(define: Define, words: readonly string[]): Given {
  const command = define(new Command())
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  try {
    return command.parse([...words], { from: 'user' }).opts();
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    throw new InputInvalidError(
      [`The options on record cannot be read (${error.message}); give another --id.`],
      'batch',
    );
  }
}

/** What is kept of a command. Paths that start from where it runs are made absolute. */
export function toBatchCommand(
  define: Define,
  files: readonly string[],
  options: { readonly folder?: string },
  cwd: string,
): BatchCommand {
  const given = { ...options } as Given;
  const absolute = (file: string): string => (file.trim() === '' || isUri(file) ? file : path.resolve(cwd, file));
  const isText = (name: string): boolean => textsOf(given, 'textColumn').includes(name);
  const { template, picks } = given;
  const kept = {
    ...given,
    template: typeof template === 'string' ? absolute(template) : undefined,
    picks: typeof picks === 'string' ? absolute(picks) : undefined,
    input: textsOf(given, 'input').map((text) => text.replace(/=@(.*)$/s, (_, file: string) => `=@${absolute(file)}`)),
    vary: textsOf(given, 'vary').map((text) => {
      const [input, values] = parseVary(text, isText);
      if ('random' in values || !values.some((value) => typeof value === 'object')) return text;
      const cells = values.map((value) => (typeof value === 'object' ? `@${absolute(value.file)}` : String(value)));
      return `${input}=${cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')}`;
    }),
  };
  const { folder = cwd } = options;
  return { folder, files: files.map((file) => path.resolve(cwd, file)), options: toWords(define, kept) };
}
