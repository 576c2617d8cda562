import { extname } from 'node:path';
import { lookup } from 'mime-types';
import { Refusal } from '../refusal';

/** What may be uploaded (section 1: images, audio, video), by the type that the extension stands for. */
const INPUT_TYPES = /^(image|audio|video)\//;
const EXTENSION = /^\.[a-z0-9]{1,10}$/;

/**
 * The extension of a file name, lower case with its dot. Throws a {@link Refusal} when it has none, or one that is
 * not of an image, audio or video type.
 */
export function inputExtension(fileName: string): string {
  const ext = extname(fileName).toLowerCase();
  if (!EXTENSION.test(ext)) throw new Refusal('badParameter', 'the file name must end in an extension such as .png');
  if (!INPUT_TYPES.test(lookup(ext) || '')) {
    throw new Refusal('badParameter', `files of the extension ${ext} are not accepted: only images, audio and video`);
  }
  return ext;
}
