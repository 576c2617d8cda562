import { utf8Bytes } from './utf8-bytes';
import { pathPart } from './archive-name';
import { shortHash } from './short-hash';

/** What some file system forbids, what cannot be seen, and what marks an escape. */
const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}"<>:|?*\\/%]/gu;
const loneSurrogate = /\p{Cs}/gu;
/** Names of devices on Windows, with any extension. */
const device = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³]) *(?:\.|$)/i;
/** Where batches keep their own records in the archive. */
const ownFolder = /^batches$/i;

/** Whether a template's own text is safe between any two values. */
export function isLiteralSafe(text: string): boolean {
  return text.search(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{M}"<>:|?*\\/%{}]/u) === -1;
}

/**
 * A value as a piece of a path part, such that no other value has the same piece. Longer ones than `maxBytes` are cut
 * and end in a hash.
 */
export function wholePart(value: string, maxBytes: number): string {
  const piece = pathPart(value);
  if (piece.length <= maxBytes) return piece;
  // No piece has a tilde of its own.
  return `${piece.slice(0, maxBytes - 17)}~${shortHash(value)}`;
}

/** A column's value as a piece of a path part: readable, of at most `maxBytes`, and not always another for another. */
export function columnPart(value: string, maxBytes: number): string {
  const text = value
    .normalize('NFC')
    .replace(loneSurrogate, '_')
    .replace(unsafe, (character) => pathPart(character));
  const kept: string[] = [];
  let bytes = 0;
  for (const character of text) {
    bytes += utf8Bytes(character);
    if (bytes > maxBytes) break;
    kept.push(character);
  }
  const piece = kept.join('').trim();
  return piece === '' ? '_' : piece;
}

/** One part of a path from its pieces; what would be special at its ends or as a whole is escaped. */
export function partOf(pieces: string, isFirst: boolean): string {
  const part = pieces.normalize('NFC').replace(/^[. ]|[. ]$/g, escaped);
  return device.test(part) || (isFirst && ownFolder.test(part)) ? part.replace(/^./, escaped) : part;
}

function escaped(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}
