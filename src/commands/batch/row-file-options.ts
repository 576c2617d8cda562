import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type Command, Option } from 'commander';
import { InputInvalidError } from '../../client/errors';
import type { InputValue, UncertainPolicy } from '../../contract/task-input';
import { parseOutputNameTemplate } from '../../domain/output-name-template';
import { errorCode } from '../../domain/text';
import {
  type EmptyCells,
  type FixedField,
  parseRowTemplate,
  rowFileAt,
  type RowFile,
  type RowFormat,
  type RowOptions,
  type RowTemplate,
} from '../../rows';
import { type InputOptions, readApp, readForms, readInputs } from '../input-options';
import { repeatable } from '../shared-options';

/** How the rows of a file become tasks, as the command line says it. */
export interface RowFileOptions extends InputOptions {
  readonly app?: string;
  readonly account?: string;
  readonly onUncertain?: UncertainPolicy;
  readonly refuseTuning?: true;
  readonly template?: string;
  readonly keyColumn?: string;
  readonly textColumn?: readonly string[];
  readonly ignoreColumn?: readonly string[];
  readonly empty?: EmptyCells;
  readonly format?: RowFormat;
  readonly delimiter?: ',' | ';' | '|' | 'tab';
  readonly names?: string;
}

/** Adds the options that say how rows become tasks. */
export function addRowFileOptions(command: Command): Command {
  return command
    .option('--app <app>', 'the app’s web_app_id, for rows that name none')
    .option('--template <file>', 'a task’s input as JSON with {column} in it')
    .addOption(repeatable('-i, --input <KEY=VALUE>', 'an input of every row that does not have it itself'))
    .addOption(repeatable('-s, --string <KEY=TEXT>', 'the same, sent as text whatever it looks like'))
    .addOption(repeatable('--as <KEY=FORM>', 'what the app gets for a file: its url (default), name or id'))
    .option('--key-column <column>', 'the column with a row’s key (default: "key")')
    .addOption(repeatable('--text-column <column>', 'a column that is sent as text, whatever it looks like'))
    .addOption(repeatable('--ignore-column <column>', 'a column that means nothing here'))
    .addOption(
      new Option('--empty <meaning>', 'what an empty cell is: no input, empty text, or a mistake (default)').choices([
        'refuse',
        'omit',
        'text',
      ]),
    )
    .addOption(
      new Option('--format <format>', 'of the row file (default: what its ending says)').choices([
        'jsonl',
        'csv',
        'tsv',
      ]),
    )
    .addOption(
      new Option('--delimiter <delimiter>', 'between the cells of a table (default: what its format says)').choices([
        ',',
        ';',
        '|',
        'tab',
      ]),
    )
    .option('--names <template>', 'names of archived files, such as {batch}/{key}/{index}{ext}')
    .option('--account <name>', 'whose credentials the worker uses for every row; a row with another is refused')
    .addOption(
      new Option('--on-uncertain <policy>', 'the policy of every row; a row with another is refused').choices([
        'hold',
        'fail',
        'recreate',
      ]),
    )
    .option('--refuse-tuning', 'refuse rows that set "tuning"');
}

/** A row file, and how its rows become tasks. */
export interface RowFileToRead {
  readonly file: RowFile;
  readonly options: RowOptions;
}

/**
 * Reads the options, and the template's file; the row file itself is not opened yet. Throws `InputInvalidError` and
 * `RowFileError`.
 */
export async function readRowFileOptions(
  rowFile: string,
  options: RowFileOptions,
  cwd: string,
): Promise<RowFileToRead> {
  const { app, account, template, keyColumn, textColumn, ignoreColumn, empty, format, delimiter, names } = options;
  const forms = readForms(options.as ?? []);
  const constants = readInputs({ input: options.input ?? [], string: options.string ?? [] }, cwd);
  return {
    file: rowFileAt(path.resolve(cwd, rowFile), format),
    options: {
      common: {
        ...(app !== undefined && { webAppId: readApp(app) }),
        ...(account !== undefined && { account }),
      },
      fixed: fixedFields(options),
      constants: inForms(constants, forms),
      forms,
      ...(template !== undefined && { template: await readTemplate(path.resolve(cwd, template)) }),
      ...(keyColumn !== undefined && { keyColumn }),
      ...(textColumn !== undefined && { textColumns: textColumn }),
      ...(ignoreColumn !== undefined && { ignoreColumns: ignoreColumn }),
      ...(empty !== undefined && { emptyCells: empty }),
      ...(delimiter !== undefined && { delimiter: delimiter === 'tab' ? '\t' : delimiter }),
      ...(names !== undefined && { keepColumns: columnsOfNames(names) }),
    },
  };
}

function fixedFields({ account, onUncertain, refuseTuning }: RowFileOptions): Record<string, FixedField> {
  return {
    ...(account !== undefined && { account: { value: account, option: '--account' } }),
    ...(onUncertain !== undefined && { onUncertain: { value: onUncertain, option: '--on-uncertain' } }),
    ...(refuseTuning && { tuning: { value: undefined, option: '--refuse-tuning' } }),
  };
}

function inForms(
  constants: Readonly<Record<string, InputValue>>,
  forms: ReturnType<typeof readForms>,
): Record<string, InputValue> {
  const formed = Object.entries(constants).map(([key, value]): [string, InputValue] => {
    const form = forms[key];
    return [key, typeof value === 'object' && form !== undefined ? { ...value, as: form } : value];
  });
  return Object.fromEntries(formed);
}

async function readTemplate(file: string): Promise<RowTemplate> {
  return parseRowTemplate(await textOf(file));
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const problem = `--template is ${JSON.stringify(file)}, which cannot be read (${errorCode(error)}); give a readable file.`;
    throw new InputInvalidError([problem], 'batch');
  }
}

function columnsOfNames(names: string): readonly string[] {
  const { template, problems } = parseOutputNameTemplate(names);
  if (problems !== undefined) throw new InputInvalidError(problems, 'batch');
  return template.columns;
}
