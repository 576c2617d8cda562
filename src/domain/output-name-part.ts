import { pathPart } from './archive-name';
import { cutToUtf8Bytes } from './utf8-bytes';

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

function escaped(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}
