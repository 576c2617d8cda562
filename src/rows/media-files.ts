import { constants, type Dirent, existsSync, readdirSync, statSync } from 'node:fs';
import { open, opendir } from 'node:fs/promises';
import path from 'node:path';
import { lookup } from 'mime-types';
import { parseInputKey } from '../core/input-values';
import { errorCode, formatBytes, showValue } from '../core/text';
import { decodeText } from './decode-text';
import type { RowOptions } from './row-options';
import { optionNames, RowFileError } from './row-problem';
import type { ObjectRecord, RecordProblem } from './row-record';

/** Pictures, videos and sounds. */
export interface MediaPlaces {
  /** Absolute: what keys are relative to. */
  readonly folder: string;
  /** Files, folders and patterns. */
  readonly paths: readonly string[];
  readonly isRecursive: boolean;
  /** Of captions. */
  readonly encoding?: string | undefined;
}

/** Whether its extension is that of a picture, a video or a sound. */
export function looksLikeMediaFile(text: string): boolean {
  return /^(?:image|video|audio)\//.test(lookup(path.extname(text)) || '');
}

function isPattern(file: string): boolean {
  return /[*?{]/.test(file) && !existsSync(file);
}

/** The part of a pattern before its first folder or file that is not named; a path that is none is given back. */
export function fixedPart(pattern: string): string {
  const parts = pattern.split('/');
  const firstAt = parts.findIndex((part) => /[*?{]/.test(part));
  if (firstAt === -1) return pattern;
  return parts.slice(0, firstAt).join('/') || (pattern.startsWith('/') ? '/' : '.');
}

/** Undefined for a row file. @throws RowFileError for a mixture of both. */
export function findMedia(files: readonly string[], start = '.'): Pick<MediaPlaces, 'folder' | 'paths'> | undefined {
  const isFolder = (file: string): boolean => statSync(file, { throwIfNoEntry: false })?.isDirectory() === true;
  const isMedia = (file: string): boolean => isFolder(file) || looksLikeMediaFile(file) || isPattern(file);
  // A shell's `photos/*` has the captions, too.
  const media = files.filter((file) => isMedia(file));
  const others = files.filter((file) => !isMedia(file) && path.extname(file).toLowerCase() !== '.txt');
  const [first] = media;
  if (first === undefined) return undefined;
  if (others.length > 0) {
    const list = others
      .slice(0, 3)
      .map((file) => showValue(file))
      .join(', ');
    throw new RowFileError(`${list} is no picture, video or sound; leave it out, or give the folder.`);
  }
  const paths = media.map((file) => path.resolve(file));
  if (files.length > 1) return { folder: path.resolve(start), paths };
  const folder = isFolder(first) ? first : isPattern(first) ? fixedPart(first) : path.dirname(first);
  return { folder: path.resolve(folder), paths };
}

/** More are no batch that anyone would check. */
const maxFiles = 1_000_000;
const { compare } = new Intl.Collator('en', { numeric: true });

/** `photo2` before `photo10`; the same in every language of a machine. */
function naturalOrder(one: string, other: string): number {
  return compare(one, other) || (one < other ? -1 : 1);
}

interface FoundFile {
  readonly file: string;
  readonly isUtf8: boolean;
}

/**
 * A row for each file, its key the path from the folder, in natural order.
 * @throws RowFileError when there is none, and for a folder that cannot be read.
 */
export async function* readMedia(
  { folder, paths, isRecursive, encoding }: MediaPlaces,
  { each, captions }: RowOptions,
): AsyncGenerator<ObjectRecord, void, undefined> {
  if (each === undefined) {
    throw new RowFileError(`It is not known which input each file is; say so by ${optionNames.each}.`);
  }
  let line = 0;
  for (const place of [...paths].sort(naturalOrder)) {
    for await (const { file, isUtf8 } of filesAt(place, isRecursive)) {
      line += 1;
      if (line > maxFiles)
        throw new RowFileError(`There are more than ${maxFiles} files; give them in several batches.`);
      const key = path.relative(folder, file).split(path.sep).join('/');
      const row = { line, sheetRow: line };
      if (!isUtf8) {
        const message = `The name of the file ${showValue(key)} is not UTF-8; rename it.`;
        yield { ...row, problem: { code: 'FILE', message } };
        continue;
      }
      const value = { key, [each]: { file } };
      if (captions === undefined) {
        yield { ...row, value };
        continue;
      }
      const caption = await readCaption(file, encoding);
      if (typeof caption === 'object') yield { ...row, problem: caption };
      else yield { ...row, value: { ...value, [captions]: caption } };
    }
  }
  if (line > 0) return;
  const isBelow = !isRecursive && paths.some(hasFolders);
  const below = isBelow ? '; the folders in it are read by recursive (--recursive)' : '';
  throw new RowFileError(
    `There is no picture, video or sound in ${paths
      .slice(0, 3)
      .map((one) => showValue(one))
      .join(', ')}${below}.`,
  );
}

function hasFolders(place: string): boolean {
  const isFolder = statSync(place, { throwIfNoEntry: false })?.isDirectory() === true;
  return isFolder && readdirSync(place, { withFileTypes: true }).some((entry) => entry.isDirectory());
}

async function* filesAt(place: string, isRecursive: boolean): AsyncGenerator<FoundFile, void, undefined> {
  if (isPattern(place)) {
    const folder = fixedPart(place);
    const rest = place.slice(folder === '/' ? 1 : folder.length + 1);
    const pattern = new RegExp(`^${patternSource(rest)}$`, 'u');
    for await (const found of walk(folder, rest.includes('/'))) {
      if (pattern.test(path.relative(folder, found.file).split(path.sep).join('/'))) yield found;
    }
  } else if (statSync(place, { throwIfNoEntry: false })?.isDirectory() === true) {
    yield* walk(place, isRecursive);
  } else {
    yield { file: place, isUtf8: true };
  }
}

/** `*` and `?` within a name, `**` across folders, `{jpg,png}`. */
function patternSource(pattern: string): string {
  const pieces = pattern.match(/\*\*\/?|[*?]|\{[^{}]*\}|[^*?{]+|\{/g) ?? [];
  return pieces
    .map((piece) => {
      if (piece.startsWith('**')) return piece.endsWith('/') ? '(?:[^/]+/)*' : '.*';
      if (piece === '*') return '[^/]*';
      if (piece === '?') return '[^/]';
      if (!piece.endsWith('}') || !piece.startsWith('{')) return escapeRegExp(piece);
      return `(?:${piece.slice(1, -1).split(',').map(patternSource).join('|')})`;
    })
    .join('');
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, String.raw`\$&`);
}

interface FolderEntry {
  readonly name: string;
  readonly isFolder: boolean;
  readonly isUtf8: boolean;
}

/** Without hidden files and links. */
async function* walk(folder: string, isRecursive: boolean): AsyncGenerator<FoundFile, void, undefined> {
  // The rest of each folder, the innermost last: depth costs no stack.
  const open = [{ folder, entries: await listFolder(folder, isRecursive) }];
  for (let inner = open.at(-1); inner !== undefined; inner = open.at(-1)) {
    const entry = inner.entries.pop();
    if (entry === undefined) {
      open.pop();
      continue;
    }
    const { isFolder, isUtf8 } = entry;
    const file = path.join(inner.folder, entry.name);
    if (isFolder && isUtf8) open.push({ folder: file, entries: await listFolder(file, isRecursive) });
    else yield { file, isUtf8 };
  }
}

/** The last is the first in order. */
async function listFolder(folder: string, isRecursive: boolean): Promise<FolderEntry[]> {
  const found: FolderEntry[] = [];
  try {
    // As bytes: a name that is not UTF-8 would be another one. In pieces: all entries at once take a kilobyte each.
    const entries = await opendir(folder, { encoding: 'buffer' as BufferEncoding, bufferSize: 1_024 });
    for await (const entry of entries as AsyncIterable<Dirent<Buffer>>) {
      const name = entry.name.toString();
      const isFolder = entry.isDirectory();
      // A link of a folder that someone sent may lead to any file of this machine.
      if (entry.isSymbolicLink() || name.startsWith('.') || !(isFolder ? isRecursive : looksLikeMediaFile(name)))
        continue;
      found.push({ name, isFolder, isUtf8: Buffer.from(name).equals(entry.name) });
    }
  } catch (error) {
    throw new RowFileError(`The folder ${showValue(folder)} cannot be read (${errorCode(error)}); check its path.`);
  }
  return found.sort((one, other) => naturalOrder(other.name, one.name));
}

const maxCaptionBytes = 256 * 1024;

/** The text file of the same name, or why there is none. */
async function readCaption(file: string, encoding: string | undefined): Promise<string | RecordProblem> {
  const { dir, name } = path.parse(file);
  const caption = path.join(dir, `${name}.txt`);
  const problem = (code: RecordProblem['code'], rest: string): RecordProblem => ({
    code,
    message: `The caption ${showValue(caption)} ${rest}.`,
  });
  try {
    // A pipe would wait for its writer.
    const handle = await open(caption, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) return problem('FILE', 'is not a regular file; give each picture one of its own');
      const bytes = stats.size > maxCaptionBytes ? undefined : await handle.readFile();
      if (bytes === undefined) return problem('TOO_LARGE', `has more than ${formatBytes(maxCaptionBytes)}; shorten it`);
      const pieces: Uint8Array[] = [];
      for await (const piece of decodeText(singly(bytes), { name: caption, encoding })) pieces.push(piece);
      const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(pieces)).trim();
      return text === '' ? problem('VALUE', 'is empty; give it a text') : text;
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof RowFileError || error instanceof TypeError) {
      return problem('NOT_UTF8', `is not UTF-8; save it as UTF-8, or say its ${optionNames.encoding}`);
    }
    return problem('FILE', `cannot be read (${errorCode(error)}); give each picture a text file of its name`);
  }
}

async function* singly(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield await Promise.resolve(bytes);
}

/** Throws RowFileError for what is no input. */
export function requireInputs({ each, captions }: RowOptions): void {
  for (const [name, input] of [
    [optionNames.each, each],
    [optionNames.captions, captions],
  ] as const) {
    if (input !== undefined && parseInputKey(input) === undefined) {
      throw new RowFileError(`${name} is ${showValue(input)}; give an input such as 1:LoadImage.image.`);
    }
  }
  if (each !== undefined && each === captions) {
    throw new RowFileError(
      `${optionNames.each} and ${optionNames.captions} are both ${showValue(each)}; give two inputs.`,
    );
  }
}
