import { cutToUtf8Bytes, utf8Bytes } from './text';

/** The most bytes of one part of a path: encrypted folders take 143, and a moved archive must keep its names. */
export const maxPartBytes = 143;
/** Where the manifests of fetched results go. */
export const folderOfManifests = 'manifests';
const hashBytes = 17;

/** One path part for any text, safe on every file system. Two texts never share a part. */
export function pathPart(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*~]|^\.|\.$/g, escaped);
}

/** As {@link pathPart}; a part that would have more than `maxBytes` is cut and ends in a hash. No other has a tilde. */
export function boundedPathPart(text: string, maxBytes = maxPartBytes): string {
  const part = pathPart(text);
  return part.length <= maxBytes ? part : `${part.slice(0, maxBytes - hashBytes)}~${shortHash(text)}`;
}

/** What a shortened name keeps: manifests are known by it, and types of files. */
const keptEnd = /(?:manifest\.json|\.[A-Za-z0-9]{1,10})$/;

/** The name or a shorter one for it alone: long parts are cut and get a hash. Files of a folder stay together. */
export function fittedName(name: string, maxBytes: number): string {
  const parts = name.split('/').map((part) => {
    if (utf8Bytes(part) <= maxPartBytes) return part;
    const [end = ''] = keptEnd.exec(part) ?? [];
    return `${cutToUtf8Bytes(part, maxPartBytes - hashBytes - end.length)}~${shortHash(part)}${end}`;
  });
  const fitted = parts.join('/');
  if (utf8Bytes(fitted) <= maxBytes) return fitted;
  const file = parts.at(-1) ?? '';
  const folder = parts.slice(0, -1).join('/');
  const room = Math.min(maxPartBytes, maxBytes - utf8Bytes(file) - 1) - hashBytes;
  return `${cutToUtf8Bytes(parts[0] ?? '', Math.max(0, room))}~${shortHash(folder)}/${file}`;
}

/** A file extension as the service gives it (`.png`), or `''` when it is not one. */
export function safeExtension(ext: string): string {
  return /^\.[A-Za-z0-9]{1,10}$/.test(ext) ? ext.toLowerCase() : '';
}

/** The archive's name of one output: `{requestId}/{index}{ext}`. */
export function outputName(requestId: string, index: number, ext: string): string {
  return `${boundedPathPart(requestId)}/${index}${safeExtension(ext)}`;
}

export function manifestName(requestId: string): string {
  return `${boundedPathPart(requestId)}/manifest.json`;
}

/** What some file system forbids, what cannot be seen, and what marks an escape. */
const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}"<>:|?*\\/%]/gu;
const loneSurrogate = /\p{Cs}/gu;
const device = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³]) *(?:\.|$)/i;
const ownFolder = /^batches$/i;

/** Whether a template's own text is safe between any two values. */
export function isLiteralSafe(text: string): boolean {
  return text.search(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{M}"<>:|?*\\/%{}]/u) === -1;
}

/** A column's value as a piece of a path part: readable, of at most `maxBytes`, and not always another for another. */
export function columnPart(value: string, maxBytes: number): string {
  const text = value
    .normalize('NFC')
    .replace(loneSurrogate, '_')
    .replace(unsafe, (character) => pathPart(character));
  const piece = cutToUtf8Bytes(text, maxBytes).trim();
  return piece === '' ? '_' : piece;
}

/** One part of a path from its pieces; what would be special at its ends or as a whole is escaped. */
export function partOf(pieces: string, isFirst: boolean): string {
  const part = pieces.normalize('NFC').replace(/^[. ]|[. ]$/g, escaped);
  return device.test(part) || (isFirst && ownFolder.test(part)) ? part.replace(/^./, escaped) : part;
}

/** What some file system cannot take, and what cannot be seen; the two joiners make words and emoji. */
const impossible = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}"<>:|?*\\/]/gu;

/** For names that are not read back: two texts may become one. */
export function plainText(text: string): string {
  return text.normalize('NFC').replace(impossible, '_');
}

/** A part of a path that no file system and no listing takes for something else. */
export function wholePart(text: string): string {
  const part = text.replace(/^[. ]|[. ]$/g, '_');
  return device.test(part) ? `_${part}` : part;
}

function escaped(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}

const offsetBasis = 0xcbf29ce484222325n;
const prime = 0x100000001b3n;

/** 16 hex digits that tell texts apart: FNV-1a over UTF-16 units. For names only: collisions can be made. */
export function shortHash(text: string): string {
  let hash = offsetBasis;
  for (let index = 0; index < text.length; index += 1) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(text.charCodeAt(index))) * prime);
  }
  return hash.toString(16).padStart(16, '0');
}
