import path from 'node:path';
import { Readable } from 'node:stream';
import { lookup } from 'mime-types';
import { pickPlace, type RowPlace } from '../core/batch/row-place';
import { parseInputKey } from '../core/input-values';
import { showValue } from '../core/text';
import { delimiterByFormat, numberNotation, readCellNumber, trimUnseen, unintendedText } from './cells';
import type { SourceRow } from './prepare-row';
import type { RowTable } from './prepared-rows';
import type { RowOptions } from './row-options';
import { optionNames, RowFileError } from './row-problem';
import type { ObjectRecord } from './row-record';
import { parseRowTemplate } from './row-template';

export interface FormerOutput {
  /** As results.csv and picks.csv name it. */
  readonly path: string;
  /** What a worker reads: a path, or an `s3:` URI. */
  readonly file: string;
  /** Hex. */
  readonly sha256: string;
  /** Why it cannot be an input, such as "is not in the archive". */
  readonly problem?: string | undefined;
}

export interface FormerOutputs {
  /** Archived ones, in the order of the manifest. */
  readonly outputs: readonly FormerOutput[];
  /** The inputs of the row that are no files. */
  readonly values: Readonly<Record<string, string | number>>;
}

export interface FormerRow {
  readonly key: string;
  readonly status: 'Success' | 'Failed' | 'Canceled' | 'NotStarted';
  /** Of its table, by column. */
  readonly cells: readonly (readonly [column: string, text: string])[];
  /** A text says why they cannot be had. */
  outputs(): Promise<FormerOutputs | string>;
}

/** A batch whose outputs become rows; `openArchivedBatch` of `longhaul/files` opens one. */
export interface FormerBatch {
  readonly id: string;
  /** In the order of its row file. */
  rows(): AsyncIterable<FormerRow>;
}

/** How a table of picks is read. */
export const pickColumns: Pick<RowOptions, 'template' | 'emptyCells'> = {
  template: parseRowTemplate('{"key":"{key}","inputs":{"1:Pick.output":"{output}","1:Pick.pick":"{pick}"}}'),
  emptyCells: 'text',
};

interface PickedOutput {
  readonly place: RowPlace;
  readonly isKept: boolean;
}

/** By output; that of no output holds for those that have none. */
type Picks = Map<string, PickedOutput>;

interface PickedRow extends FormerRow {
  /** Undefined without picks. */
  readonly picks: ReadonlyMap<string, PickedOutput> | undefined;
}

/** Without a place, it is numbered. */
type Found = Omit<ObjectRecord, 'line'> & { readonly place?: RowPlace | undefined };

const rowsAtOnce = 16;

/**
 * A row for each output, in the order of the former batch. Its key is the former one, from the second output on with
 * its number, as fetched files are named: more picks change no key.
 * @param table - the picks, as their reader gives them. @default all outputs of rows that succeeded
 * @throws RowFileError when there is nothing to run; what the batch throws.
 */
export async function* readPickedOutputs(
  batch: FormerBatch,
  table: AsyncIterable<SourceRow> | undefined,
  options: RowOptions,
): AsyncGenerator<ObjectRecord, void, undefined> {
  const { each } = options;
  if (each === undefined) {
    throw new RowFileError(
      `It is not known which input each output is; say so by ${optionNames.each}, or -i KEY=output.`,
    );
  }
  const picks = new Map<string, Picks>();
  if (table !== undefined) yield* readPicks(table, picks);
  let isAnyKey = table === undefined;
  const chosen = async function* (): AsyncGenerator<PickedRow, void, undefined> {
    for await (const row of batch.rows()) {
      const own = picks.get(row.key);
      isAnyKey ||= own !== undefined;
      picks.delete(row.key);
      if (table === undefined ? row.status === 'Success' : firstKept(own) !== undefined) {
        yield { ...row, picks: table === undefined ? undefined : own };
      }
    }
  };
  const reader = new OutputReader(batch.id, each, options);
  const read = Readable.from(chosen()).map((row: PickedRow) => reader.read(row), { concurrency: rowsAtOnce });
  let line = 0;
  for await (const found of read as AsyncIterable<readonly Found[]>) {
    for (const { place, ...record } of found) yield { ...(place ?? { line: (line += 1), sheetRow: line }), ...record };
  }
  const name = showValue(batch.id);
  if (!isAnyKey) {
    throw new RowFileError(`The picks have no row of the batch ${name}; give the picks of its report, or their batch.`);
  }
  for (const [key, own] of picks) {
    const pick = firstKept(own);
    if (pick === undefined) continue;
    const message = `key is ${showValue(key)}, which the batch ${name} does not have; remove the line, or give the key as its report has it.`;
    yield { ...pick.place, problem: { code: 'KEY', message, at: { field: 'key', value: key } } };
  }
  if (table === undefined && line === 0) {
    throw new RowFileError(`The batch ${name} has no archived outputs of rows that succeeded.`);
  }
}

function firstKept(picks: ReadonlyMap<string, PickedOutput> | undefined): PickedOutput | undefined {
  return [...(picks?.values() ?? [])].find(({ isKept }) => isKept);
}

/** Yields bad lines. */
async function* readPicks(
  table: AsyncIterable<SourceRow>,
  picks: Map<string, Picks>,
): AsyncGenerator<ObjectRecord, void, undefined> {
  let isAnyKept = false;
  for await (const source of table) {
    const place = pickPlace(source);
    const [problem] = source.problems.found;
    const [key = '', output = '', pick = ''] = ['key', 'output', 'pick'].map((column) => {
      const text: unknown = source.said?.content[column];
      return typeof text === 'string' ? trimUnseen(withoutApostrophe(text)) : '';
    });
    const word = pick.toLowerCase();
    if (problem !== undefined || !['keep', 'reject', ''].includes(word)) {
      const message = `pick is ${showValue(pick)}; give keep or reject.`;
      yield { ...place, problem: problem ?? { code: 'VALUE', message, at: { field: 'pick', value: pick } } };
      continue;
    }
    const own: Picks = picks.get(key) ?? new Map<string, PickedOutput>();
    if (own.has(output)) {
      const message = `The output ${showValue(output)} of the row ${showValue(key)} is picked twice; remove one of the lines.`;
      yield { ...place, problem: { code: 'DUPLICATE', message, at: { field: 'output', value: output } } };
      continue;
    }
    isAnyKept ||= word === 'keep';
    picks.set(key, own.set(output, { place, isKept: word === 'keep' }));
  }
  if (!isAnyKept) throw new RowFileError('The picks keep nothing: no line has "keep" in the column "pick".');
}

/** Tables of results put one before what looks like a formula. */
function withoutApostrophe(text: string): string {
  return /^'+[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/.test(text) ? text.slice(1) : text;
}

/** Of the rows' own table, where an output comes from. */
const fromColumn = 'from_output';

class OutputReader {
  readonly #batchId: string;
  readonly #each: string;
  readonly #options: RowOptions;
  #table: RowTable | undefined;

  constructor(batchId: string, each: string, options: RowOptions) {
    this.#batchId = batchId;
    this.#each = each;
    this.#options = options;
  }

  async read({ picks, ...row }: PickedRow): Promise<readonly Found[]> {
    const name = `The row ${showValue(row.key)} of the batch ${showValue(this.#batchId)}`;
    const own = row.cells.map(([column]) => column).filter((column) => column !== fromColumn);
    this.#table ??= { columns: [...own, fromColumn], delimiter: delimiterByFormat.csv, hasBom: true };
    const fail = (place: RowPlace | undefined, message: string, value?: string): Found => {
      const at = value === undefined ? undefined : { field: 'output', value };
      return { place, problem: { code: 'FILE', message: `${name} ${message}.`, at } };
    };
    const first = firstKept(picks);
    if (row.status !== 'Success') return [fail(first?.place, `is ${row.status}, and has no result; reject it`)];
    const read = await row.outputs();
    if (typeof read === 'string') return [fail(first?.place, `cannot be taken: ${read}`)];
    const { outputs, values } = read;
    const found = outputs.flatMap((output, index): Found[] => {
      const pick = picks?.get(output.path) ?? picks?.get('');
      if (picks !== undefined && pick?.isKept !== true) return [];
      const problem = output.problem ?? this.#wrongKind(output.path);
      if (problem !== undefined)
        return [
          fail(pick?.place, `has the output ${showValue(path.basename(output.path))}, which ${problem}`, output.path),
        ];
      return [{ place: pick?.place, ...this.#record(row, output, index, values) }];
    });
    const paths = new Set(['', ...outputs.map((output) => output.path)]);
    for (const [output, { place, isKept }] of picks ?? []) {
      if (!isKept || paths.has(output)) continue;
      found.push(
        fail(
          place,
          `does not have the output ${showValue(output)}: it ran again since, or the picks are of another batch; save the picks of its report again`,
          output,
        ),
      );
    }
    return found.length > 0 || picks === undefined ? found : [fail(first?.place, 'has no archived output; reject it')];
  }

  #record(
    row: FormerRow,
    { path: from, file, sha256 }: FormerOutput,
    index: number,
    values: FormerOutputs['values'],
  ): Omit<Found, 'place'> {
    const { columnInputs = {}, keepColumns = [] } = this.#options;
    const cells = new Map<string, string>([['key', row.key], ...row.cells, [fromColumn, from]]);
    const columns = new Map<string, string | number>([...Object.entries(values), ...cells]);
    const inputs: Record<string, unknown> = { [this.#each]: { file, sha256 } };
    for (const [input, column] of Object.entries(columnInputs)) {
      const value = cells.has(column) ? this.#cell(input, cells.get(column) ?? '') : columns.get(column);
      if (typeof value === 'string' || typeof value === 'number') inputs[input] = value;
      else if (value !== null) {
        const list = [...columns.keys()].slice(0, 20).map((name) => showValue(name));
        const wrong = value?.problem ?? `the batch ${showValue(this.#batchId)} has the columns ${list.join(', ')}`;
        const message = `${showValue(input)} is ${showValue(`column:${column}`)}; ${wrong}.`;
        return { problem: { code: 'VALUE', message, at: { field: input, value: columns.get(column) } } };
      }
    }
    const kept = Object.fromEntries(keepColumns.map((name) => [name, columns.get(name)]));
    return {
      value: { ...kept, key: index === 0 ? row.key : `${row.key}-${index + 1}`, inputs },
      own: { table: this.#table, cells: this.#table?.columns.map((name) => cells.get(name) ?? '') },
    };
  }

  /** As a cell of a table: a number where it is one; null is no input. */
  #cell(input: string, text: string): string | number | null | { readonly problem: string } {
    const { textColumns = [], emptyCells = 'refuse', decimal } = this.#options;
    if (text === '' && emptyCells === 'omit') return null;
    if (text === '' && emptyCells === 'refuse') {
      return { problem: `the column is empty: say what that is by ${optionNames.emptyCells}` };
    }
    if (textColumns.includes(input)) return text;
    const notation = numberNotation(decimal);
    const got = text.startsWith('@') ? 'a file of the former row' : unintendedText(text, notation);
    if (got !== undefined) {
      return { problem: `got ${got} (${showValue(text)}); say that it is text by ${optionNames.textColumns}` };
    }
    return readCellNumber(text, notation) ?? text;
  }

  #wrongKind(file: string): string | undefined {
    const { nodeClass = '', parameter = '' } = parseInputKey(this.#each) ?? {};
    const asked = `${nodeClass}.${parameter}`.toLowerCase();
    const wanted = Object.keys(takenTypes).filter((kind) => asked.includes(kind));
    const type = lookup(path.extname(file));
    if (type === false || wanted.length === 0 || wanted.some((kind) => takenTypes[kind]?.test(type) === true))
      return undefined;
    return `is ${type}, and ${showValue(this.#each)} takes ${wanted.join(' or ')}; reject it in the picks, or give it to another input`;
  }
}

/** What an input takes whose node or parameter has this word in its name. */
const takenTypes: Readonly<Record<string, RegExp>> = {
  image: /^image\//,
  video: /^(?:video\/|image\/(?:gif|webp)$)/,
  audio: /^(?:audio|video)\//,
};
