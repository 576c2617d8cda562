import path from 'node:path';
import { lookup } from 'mime-types';

/** Whether a text ends in the extension of a picture, a video or a sound. */
export function looksLikeMediaFile(text: string): boolean {
  return /^(?:image|video|audio)\//.test(lookup(path.extname(text)) || '');
}
