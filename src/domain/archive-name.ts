import { shortHash } from './short-hash';
import { cutToUtf8Bytes, utf8Bytes } from './utf8-bytes';

/** The most bytes that one part of a path may have on common file systems. */
export const maxPartBytes = 255;
/** `~` and the sixteen digits of a short hash. */
const hashBytes = 17;

/**
 * One path part for any text, safe on every file system: nothing that separates, hides or leads elsewhere. Two texts
 * never share a part, since what is found under a name is taken for the task that the name belongs to.
 */
export function pathPart(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*~]|^\.|\.$/g, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  });
}

/** As {@link pathPart}; a part that would have more than `maxBytes` is cut and ends in a hash. No other has a tilde. */
export function boundedPathPart(text: string, maxBytes = maxPartBytes): string {
  const part = pathPart(text);
  return part.length <= maxBytes ? part : `${part.slice(0, maxBytes - hashBytes)}~${shortHash(text)}`;
}

/**
 * The name itself, or a shorter one that stands for it alone: parts above {@link maxPartBytes} are cut and end in a hash;
 * if the whole is still longer than `maxBytes`, its folders become one. Files of one folder stay in one folder.
 */
export function fittedName(name: string, maxBytes: number): string {
  const parts = name.split('/').map((part) => fittedPart(part, maxPartBytes));
  const fitted = parts.join('/');
  if (utf8Bytes(fitted) <= maxBytes) return fitted;
  const file = parts.at(-1) ?? '';
  const folder = parts.slice(0, -1).join('/');
  const room = Math.min(maxPartBytes, maxBytes - utf8Bytes(file) - 1) - hashBytes;
  return `${cutToUtf8Bytes(parts[0] ?? '', Math.max(0, room))}~${shortHash(folder)}/${file}`;
}

function fittedPart(part: string, maxBytes: number): string {
  if (utf8Bytes(part) <= maxBytes) return part;
  return `${cutToUtf8Bytes(part, maxBytes - hashBytes)}~${shortHash(part)}`;
}

/** A file extension as the service gives it (`.png`), or `''` when it is not one. */
export function safeExtension(ext: string): string {
  return /^\.[A-Za-z0-9]{1,10}$/.test(ext) ? ext.toLowerCase() : '';
}

/** The archive's name of one output: `{requestId}/{index}{ext}`. */
export function outputName(requestId: string, index: number, ext: string): string {
  return `${boundedPathPart(requestId)}/${index}${safeExtension(ext)}`;
}

/** The archive's name of a task's manifest. */
export function manifestName(requestId: string): string {
  return `${boundedPathPart(requestId)}/manifest.json`;
}
