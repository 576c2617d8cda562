import path from 'node:path';
import { Command, CommanderError } from 'commander';
import { InputInvalidError, LonghaulError, UnknownTaskError } from '../../client/errors';
import type { Longhaul } from '../../client/longhaul';
import { findArchivePlace } from '../../config/client-config';
import { ConfigError } from '../../config/environment';
import type { BatchCommand } from '../../contract/batch/batch-command';
import type { BatchInput } from '../../contract/batch/batch-input';
import { shellWord } from '../../core/text';
import { isUri } from '../../core/uri';
import { parseVary } from '../../rows';
import { ResultsError } from '../../archive/errors';
import { type CommandContext, withLonghaul } from '../command-context';
import { type BatchSettingOptions, wantedId } from './batch-settings';
import { inTime } from './file-estimate';
import { hasTemporal } from './record-lookup';

/** As commander gives them, by the names of options. */
type Given = Readonly<Record<string, unknown>>;

export interface RememberedOptions extends BatchSettingOptions {
  /** Why the record could not be read: what is wrong with the rows is said before, and nothing is started. */
  readonly unread?: Error;
  readonly folder?: string;
  readonly dryRun?: true;
  readonly prepare?: true;
}

/** Adds the options of `batch run`. */
type Define = (command: Command) => Command;

/** Of one run alone: what it shows, and what it may pay anew. */
// prettier-ignore
const ofOneRun = new Set([
  'id', 'dryRun', 'prepare', 'first', 'problems', 'detach', 'json', 'retryFailed', 'allowChanged', 'allowNew',
]);
/** One that is given replaces those of its input alone. */
const ofInputs = ['input', 'string', 'vary'] as const;

/** Of a check, which goes on without. */
const answerWithinMs = 5_000;

/** What started the batch last; undefined where nothing is known of it. Throws what the archive and Temporal answer. */
export async function readCommand(
  context: CommandContext,
  id: string,
  asksTemporal = true,
): Promise<BatchCommand | undefined> {
  if (findArchivePlace(context.env) !== null) {
    const { withArchive } = await import('../storage-access.js');
    const { readBatchLayout } = await import('../../archive/archive-reader.js');
    return (await withArchive(context, (archive) => readBatchLayout(archive, id)))?.command;
  }
  if (!asksTemporal) return undefined;
  // The traces of a program end with its first connection, and are those of the start.
  const untraced = { ...context, env: { ...context.env, LONGHAUL_TRACES_OTLP_URL: undefined } };
  return (await withLonghaul(untraced, {}, (longhaul) => readInput(longhaul, id)))?.command;
}

/** Null for a batch that is not there. */
async function readInput(longhaul: Longhaul, id: string): Promise<BatchInput | null> {
  try {
    return await longhaul.batch(id).input();
  } catch (error) {
    if (error instanceof UnknownTaskError) return null;
    throw error;
  }
}

function isUnread(error: unknown): error is Error {
  return [LonghaulError, ConfigError, ResultsError].some((type) => error instanceof type);
}

/** The command with the options on record of its batch that it does not give itself. Throws {@link InputInvalidError}. */
export async function withRemembered<Options extends RememberedOptions>(
  context: CommandContext,
  define: Define,
  files: readonly string[],
  given: Options,
): Promise<Options> {
  const own = { ...given } as Given;
  const id = wantedId(files, given, context.cwd);
  const isStart = given.dryRun !== true && given.prepare !== true;
  if (id === undefined) return given;
  let command: BatchCommand | undefined;
  try {
    const read = (): Promise<BatchCommand | undefined> => readCommand(context, id, isStart || hasTemporal(context.env));
    command = await (isStart ? read() : inTime(answerWithinMs, read));
  } catch (error) {
    if (!isUnread(error)) throw error;
    return { ...given, unread: error };
  }
  if (command === undefined) return given;
  const taken = withoutGiven(parseWords(define, command.options), own);
  const words = toWords(define, taken);
  if (words.length > 0) {
    context.stderr.write(`From the record of batch:${id}: ${words.map(shellWord).join(' ')}\n`);
  }
  const absolute = files.map((file) => path.resolve(context.cwd, file));
  const lists = [...ofInputs, 'as'].map((name) => [name, [...textsOf(taken, name), ...textsOf(own, name)]] as const);
  const folder = command.files.join('\n') === absolute.join('\n') ? command.folder : undefined;
  return { ...taken, ...given, ...Object.fromEntries(lists.filter(([, texts]) => texts.length > 0)), id, folder };
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

/** Without those of one run; with `--first`, after which the file is not started as a whole by `batch resume`. */
function toWords(define: Define, options: Given): string[] {
  return define(new Command()).options.flatMap((option) => {
    const name = option.attributeName();
    const value = options[name];
    const { long } = option;
    if (value === undefined || (ofOneRun.has(name) && name !== 'first') || long == null) return [];
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
    input: textsOf(given, 'input').map((text) =>
      text.replace(/^([^=]+=)@(.*)$/s, (_, key: string, file: string) => `${key}@${absolute(file)}`),
    ),
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
