import { randomUUID } from 'node:crypto';

/** What may be uploaded (section 1). */
export type FileKind = 'image' | 'audio' | 'video';

export interface SampleFile {
  readonly name: string;
  readonly ext: string;
  readonly bytes: Buffer;
}

/** A PNG of one pixel. */
const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

/** A WAV file of a hundred silent samples. */
function silence(): Buffer {
  const samples = 100;
  const bytes = Buffer.alloc(44 + samples, 0x80);
  bytes.write('RIFF', 0);
  bytes.writeUInt32LE(36 + samples, 4);
  bytes.write('WAVEfmt ', 8);
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(8_000, 24);
  bytes.writeUInt32LE(8_000, 28);
  bytes.writeUInt16LE(1, 32);
  bytes.writeUInt16LE(8, 34);
  bytes.write('data', 36);
  bytes.writeUInt32LE(samples, 40);
  return bytes;
}

/** The first box of an MP4 file and an empty one: enough to be told from other files. */
const emptyFilm = Buffer.from('0000001c66747970697736d0000002006973666d69736f326d7034310000000866726565', 'hex');

const contents: Readonly<Record<FileKind, { readonly ext: string; readonly bytes: Buffer }>> = {
  image: { ext: '.png', bytes: pixel },
  audio: { ext: '.wav', bytes: silence() },
  video: { ext: '.mp4', bytes: emptyFilm },
};

/** A new small file with a name that no other has. */
export function sampleFile(kind: FileKind): SampleFile {
  const { ext, bytes } = contents[kind];
  return { name: `conformance-${randomUUID().slice(0, 8)}${ext}`, ext, bytes };
}
