import type { InputValue } from '../../contract/task-input';
import type { UnusualInput } from '../../domain/app-inputs';
import { formatRowPlace, pickPlace, type RowPlace } from '../../domain/batch/row-place';
import { formatCountOf, safeText, showValue } from '../../domain/text';
import { looksLikeMediaFile, type PreparedRow } from '../../rows';
import { fit } from '../terminal';
import { formatRowCount } from './batch-display';

type Kind = 'file' | 'number' | 'text';

/**
 * A few rows of another kind than all others are rather a mistake; of two kinds that are both common, neither is: at most
 * one row in twenty of the usual kind, or up to three where they are one in five.
 */
const [mostOdd, mostOddOfFew, fewOdd] = [0.05, 0.2, 3];

/** With fewer rows of the usual kind, neither is usual. */
const fewestUsual = 3;
const maxMixedKeys = 200;
const maxExampleLength = 60;

/** An input that is of one kind in nearly all rows, and of another kind in a few. */
export interface MixedInput {
  readonly key: string;
  /** So many rows are of the other kind. */
  readonly rows: number;
  readonly kind: Kind;
  readonly usual: Kind;
  /** The first of them. */
  readonly place: RowPlace;
  /** What stands there, shortened. */
  readonly example: string;
}

interface KindCount {
  rows: number;
  readonly place: RowPlace;
  readonly example: string;
}

/** Finds inputs such as a width that is `50%` or `3-Apr` in one row, where it is a number in all others. */
export class MixedInputs {
  /** By app and key: apps may take inputs of one key and of different kinds. */
  readonly #counts = new Map<string, { readonly key: string; readonly kinds: Map<Kind, KindCount> }>();

  add(row: PreparedRow): void {
    const { webAppId, inputs } = row.input;
    for (const [key, value] of Object.entries(inputs)) {
      const name = `${webAppId} ${key}`;
      const { kinds } = this.#counts.get(name) ?? { kinds: new Map<Kind, KindCount>() };
      if (kinds.size === 0 && this.#counts.size >= maxMixedKeys) continue;
      this.#counts.set(name, { key, kinds });
      const known = kinds.get(kindOf(value));
      if (known !== undefined) known.rows += 1;
      else kinds.set(kindOf(value), { rows: 1, place: pickPlace(row), example: exampleOf(value) });
    }
  }

  get found(): readonly MixedInput[] {
    return [...this.#counts.values()].flatMap(({ key, kinds }) => {
      const [first, ...others] = [...kinds].sort(([, one], [, other]) => other.rows - one.rows);
      if (first === undefined || first[1].rows < fewestUsual) return [];
      const [usual, { rows: most }] = first;
      return others
        .filter(([, { rows }]) => rows <= Math.max(1, most * mostOdd, Math.min(fewOdd, most * mostOddOfFew)))
        .map(([kind, { rows, place, example }]) => ({ key, rows, kind, usual, place, example }));
    });
  }
}

function kindOf(value: InputValue): Kind {
  return typeof value === 'object' ? 'file' : typeof value === 'number' ? 'number' : 'text';
}

function exampleOf(value: InputValue): string {
  return fit(safeText(typeof value === 'object' ? value.file : String(value)), maxExampleLength);
}

const kindNames: Readonly<Record<Kind, string>> = { file: 'a file', number: 'a number', text: 'text' };

/** For people. */
export function formatMixedInput({ key, rows, kind, usual, place, example }: MixedInput): string {
  const where = `${formatCountOf(rows, 'row')} (${rows === 1 ? '' : 'first '}${formatRowPlace(place)}: ${showValue(example)})`;
  return `${showValue(key)} is ${kindNames[kind]} in ${where}, and ${kindNames[usual]} in all others`;
}

/** An input whose text looks like something else: the name of a file, or a ratio that a spreadsheet took for a time. */
export interface SuspectText {
  readonly key: string;
  readonly looksLike: 'a file' | 'a time';
  /** So many rows have such a text there. */
  readonly rows: number;
  /** The first of the texts, shortened. */
  readonly example: string;
  /** How it would be written. */
  readonly instead: string;
}

const maxTextKeys = 20;

/** `16:09`, `04:03` and `01:01:00`, as spreadsheets write 16:9, 4:3 and 1:1. */
const ratioAsTime = /^(?:0\d:\d\d|\d\d:0\d)(?::00)?$/;

/** Finds text inputs that were probably meant as something else; keeps one example for each key. */
export class SuspectTexts {
  readonly #texts: ReadonlySet<string>;
  readonly #markedByAt: (key: string) => boolean;
  readonly #found = new Map<string, { rows: number; readonly example: string; readonly isTime: boolean }>();

  /**
   * @param texts - keys of inputs that were said to be text.
   * @param markedByAt - whether a file is marked by an `@` there, as in cells, and not by `{ "file": … }`.
   */
  constructor(texts: Iterable<string>, markedByAt: (key: string) => boolean) {
    this.#texts = new Set(texts);
    this.#markedByAt = markedByAt;
  }

  add({ input }: PreparedRow): void {
    for (const [key, value] of Object.entries(input.inputs)) {
      if (typeof value !== 'string' || this.#texts.has(key)) continue;
      const isTime = ratioAsTime.test(value);
      if (!isTime && !looksLikeMediaFile(value)) continue;
      const found = this.#found.get(key);
      if (found !== undefined) found.rows += 1;
      else if (this.#found.size < maxTextKeys) this.#found.set(key, { rows: 1, example: safeText(value), isTime });
    }
  }

  get found(): readonly SuspectText[] {
    return [...this.#found].map(([key, { rows, example, isTime }]) => {
      if (isTime) return { key, looksLike: 'a time', rows, example, instead: asRatio(example) };
      const instead = this.#markedByAt(key) ? `@${example}` : JSON.stringify({ file: example });
      return { key, looksLike: 'a file', rows, example, instead };
    });
  }
}

function asRatio(time: string): string {
  const [hours, minutes] = time.split(':').map(Number);
  return `${hours ?? 0}:${minutes ?? 0}`;
}

/** Files that are named by an `http:` URL: workers refuse them, but for hosts that are theirs to say. */
export interface PlainHttpFiles {
  /** So many rows have one. */
  readonly rows: number;
  /** The first of them. */
  readonly place: RowPlace;
  readonly key: string;
}

/** Counts the row where it has such a file. */
export function countPlainHttp(found: PlainHttpFiles | null, row: PreparedRow): PlainHttpFiles | null {
  const [key] =
    Object.entries(row.input.inputs).find(([, value]) => typeof value === 'object' && /^http:/i.test(value.file)) ?? [];
  if (key === undefined) return found;
  return found === null ? { rows: 1, place: pickPlace(row), key } : { ...found, rows: found.rows + 1 };
}

/** A warning: only a worker knows the hosts. */
export function formatPlainHttp({ rows, place, key }: PlainHttpFiles): string {
  const where = `${formatRowCount(rows)} (${rows === 1 ? '' : 'first '}${formatRowPlace(place)}, ${showValue(key)})`;
  return `a file is named by an http: URL in ${where}, which workers refuse but for hosts in their LONGHAUL_INPUT_HOSTS; use https:`;
}

/** A note, not a problem: the text may be intended. */
export function formatSuspectText({ key, looksLike, rows, example, instead }: SuspectText): string {
  const remedy =
    looksLike === 'a file' ? `${instead} would upload it` : `if ${instead} is meant, format the column as text`;
  return `${showValue(key)} is text that looks like ${looksLike} in ${formatRowCount(rows)}, e.g. ${example}; ${remedy}`;
}

/** A warning: an app may take inputs that can be left out. */
export function formatUnusualInput(input: UnusualInput): string {
  const { webAppId, key, kind, rows, earlierRows } = input;
  const where = `${formatRowCount(rows)} (${rows === 1 ? '' : 'first '}${formatRowPlace(input)})`;
  const earlier = `${formatCountOf(earlierRows, 'earlier row')} of app ${webAppId} that succeeded`;
  return kind === 'missing'
    ? `${showValue(key)} is missing in ${where}, and all of ${earlier} had it`
    : `${showValue(key)} is in ${where}, and none of ${earlier} had it`;
}
