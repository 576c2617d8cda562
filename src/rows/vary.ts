import { createHash } from 'node:crypto';
import path from 'node:path';
import type { InputValue } from '../contract/task-input';
import { type InputFromText, parseInputKey } from '../core/input-values';
import { isCount, isFields } from '../core/json';
import { cutText, foldCase, showValue } from '../core/text';
import { numberNotation, parseCells, readCellNumber, unintendedText } from './cells';
import { looksLikeMediaFile } from './media-files';
import { givenKey, type RowKey } from './row-key';
import type { RandomSeeds, RowOptions } from './row-options';
import { optionNames, RowFileError } from './row-problem';

/** What one task of a row has beside the row. */
export interface Variation {
  readonly inputs: Readonly<Record<string, InputValue>>;
  /** What the key of the row gets at its end. */
  readonly keyEnd: string;
}

/** More tasks of one row are no grid that anyone would look through. */
const maxVariations = 10_000;
/** The highest seed and one more. */
const seedRange = 2 ** 32;

const plainNotation = numberNotation(undefined, ',');

/**
 * Of `KEY=a,b,c`, quoted as CSV where a text has a comma, or `KEY=random*4`: the input and what it shall be.
 * @param isText - for an input that is text whatever it looks like.
 * @throws RowFileError that names the value.
 */
export function parseVary(
  text: string,
  isText: (input: string) => boolean,
): readonly [input: string, values: readonly InputFromText[] | RandomSeeds] {
  const refuse = (rest: string): RowFileError => new RowFileError(`--vary ${showValue(text)}: ${rest}.`);
  const equals = text.indexOf('=');
  const [input, list] = [text.slice(0, Math.max(0, equals)), text.slice(equals + 1)];
  if (parseInputKey(input) === undefined) throw refuse('give an input and its values, as in 3:KSampler.seed=1,2,3');
  const [random, count = '1'] = /^random(?:\*(\d{1,6}))?$/.exec(list) ?? [];
  if (random !== undefined) return [input, { random: Number(count) }];
  const { cells = [], problem } = parseCells(list, ',');
  if (problem !== undefined) throw refuse('the quotes do not match; write "a, b" for a text with a comma');
  const values = (cells.length === 0 ? [''] : cells).map((cell) => {
    if (cell === '') throw refuse('a value is empty; give one on each side of a comma');
    if (isText(input)) return cell;
    const unintended = unintendedText(cell, plainNotation);
    if (unintended === undefined) {
      return cell.startsWith('@') ? { file: cell.slice(1) } : (readCellNumber(cell, plainNotation) ?? cell);
    }
    const remedy = 'write numbers as 0.5, 1024 or -5, without spaces; text that looks so is named by';
    throw refuse(`${showValue(cell)} is ${unintended}; ${remedy} ${optionNames.textColumns}`);
  });
  return [input, values];
}

/** The tasks that are made of each row: every combination of the values. */
export class Variations {
  readonly #vary: readonly (readonly [input: string, values: readonly InputValue[] | RandomSeeds])[];
  readonly #batchId: string;

  /** Throws RowFileError with every problem of the option. */
  constructor({ vary = {}, batchId, each, captions, constants = {}, template }: RowOptions) {
    const others: readonly (readonly [option: string, has: (input: string) => boolean])[] = [
      [optionNames.each, (input) => input === each],
      [optionNames.captions, (input) => input === captions],
      ['constants (--input, --string)', (input) => Object.hasOwn(constants, input)],
      [optionNames.template, (input) => template?.inputColumns.has(input) === true],
    ];
    const problems = Object.entries(vary).flatMap(([input, values]) => [
      ...valueProblems(input, values, batchId),
      ...others.flatMap(([option, has]) =>
        has(input) ? [`${optionNames.vary} and ${option} both give ${showValue(input)}; leave it out of one.`] : [],
      ),
    ]);
    this.#vary = Object.entries(vary);
    this.#batchId = batchId ?? '';
    const count = problems.length > 0 ? 0 : this.#vary.reduce((sum, [, values]) => sum * countOf(values), 1);
    if (count > maxVariations) {
      problems.push(`${optionNames.vary} makes ${count} tasks of each row; give at most ${maxVariations}.`);
    }
    if (problems.length > 0) throw new RowFileError(problems);
  }

  /** In the order of the values, the last input the fastest. */
  of({ key }: RowKey): readonly Variation[] {
    let grid: readonly Readonly<Record<string, InputValue>>[] = [{}];
    for (const [input, given] of this.#vary) {
      const values = isSeeds(given) ? seedsOf([this.#batchId, key, input], given.random) : given;
      grid = grid.flatMap((inputs) => values.map((value) => ({ ...inputs, [input]: value })));
    }
    // By the names of the inputs: the order of the options must not rename a row.
    const names = this.#vary.map(([input]) => input).sort();
    return grid.map((inputs) => ({ inputs, keyEnd: names.map((name) => keyPart(inputs[name])).join('-') }));
  }
}

function isSeeds(values: readonly InputValue[] | RandomSeeds): values is RandomSeeds {
  return !Array.isArray(values);
}

function countOf(values: readonly InputValue[] | RandomSeeds): number {
  return isSeeds(values) ? values.random : values.length;
}

function valueProblems(input: string, values: unknown, batchId: string | undefined): string[] {
  const name = `${optionNames.vary} of ${showValue(input)}`;
  if (parseInputKey(input) === undefined) return [`${name} is no input; give one such as 3:KSampler.seed.`];
  if (!Array.isArray(values)) {
    const count = isFields(values) ? values['random'] : undefined;
    if (!isCount(count) || count < 1 || count > maxVariations) {
      return [`${name} is ${showValue(values)}; give a list of values, or random*N with N from 1 to ${maxVariations}.`];
    }
    return batchId === undefined ? [`${name} is drawn by the id of the batch; give batchId.`] : [];
  }
  if (values.length === 0) return [`${name} has no value; give at least one.`];
  const seen = new Map<string, unknown>();
  return values.flatMap((value: InputValue) => {
    const part = foldCase(keyPart(value));
    const other = seen.get(part);
    seen.set(part, value);
    if (other === undefined) return [];
    return [`${name}: ${showValue(other)} and ${showValue(value)} would give one key to two rows; leave out one.`];
  });
}

/**
 * The same on every machine and in every run, by what they are for; with a larger count the first ones stay. From 0 to
 * 4294967295, each once.
 */
function seedsOf(seed: readonly string[], count: number): readonly number[] {
  const seeds = new Set<number>();
  for (let index = 0; seeds.size < count; index += 1) {
    const hash = createHash('sha256').update(JSON.stringify([...seed, index]));
    seeds.add(hash.digest().readUInt32BE() % seedRange);
  }
  return [...seeds];
}

const maxPartLength = 40;
/** What not every file system takes, and what cannot be seen. */
const unusual = /[\p{C}\p{Zl}\p{Zp}"<>:|?*\\/%{}]/gu;

/** By the value alone, so that other values of the list do not rename the row. */
function keyPart(value: InputValue | undefined): string {
  const text = (typeof value === 'object' ? fileName(value.file) : String(value)).normalize('NFC');
  const plain = text.replace(unusual, '').trim();
  if (plain === text && text.length <= maxPartLength) return text;
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 6);
  const shown = cutText(plain, maxPartLength - hash.length - 1).trim();
  return shown === '' ? hash : `${shown}-${hash}`;
}

function fileName(file: string): string {
  const { base, name } = path.parse(file);
  return looksLikeMediaFile(base) ? name : base;
}

/** That of a picture stays the name of one. */
export function variedKey({ key, originalKey }: RowKey, { keyEnd }: Variation): RowKey {
  const text = originalKey ?? key;
  const extension = looksLikeMediaFile(text) ? path.extname(text) : '';
  const varied = `${text.slice(0, text.length - extension.length)}-${keyEnd}${extension}`;
  return { key: givenKey(varied).key, originalKey: originalKey === null ? null : varied };
}
