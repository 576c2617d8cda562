import { lookup } from 'mime-types';

/** As many first bytes as tell the type. */
export const headBytes = 512;

/** How contents begin, in hex. A picture under the name of another picture type is accepted. */
const moving = [
  /^47494638(37|39)61/, // GIF
  /^52494646.{8}57454250/, // WebP
  /^.{8}66747970/, // MP4, AVIF and HEIC
  /^1a45dfa3/, // WebM and Matroska
];
const pictures = [
  ...moving,
  /^89504e470d0a1a0a/, // PNG
  /^ffd8ff/, // JPEG
  /^424d/, // BMP
  /^(49492a00|4d4d002a|49492b00|4d4d002b)/, // TIFF
  /^(ff0a|0000000c4a584c20)/, // JPEG XL
];
const recordings = [
  ...moving,
  /^.{8}(7374797|6d6f6f|6d646174|77696465|66726565|736b6970|706e6f74|75756964|73696478)/, // further boxes of MP4 and QuickTime
  /^(47.{374}47|000001b[a3])/, // MPEG
  /^(52494646|52494658|52463634|42573634).{8}(41564920|57415645)/, // AVI and WAV
  /^726966662e91cf11/, // WAV of 64 bits
  /^464f524d.{8}414946/, // AIFF
  /^4f676753/, // Ogg
  /^664c6143/, // FLAC
  /^(494433|4150455441474558)/, // ID3 and APE, before MP3 and others
  /^(00)*ff[ef][0-5a-d89]/, // frames of MP3 and AAC
  /^41444946/, // AAC
];
const kinds: Readonly<Record<string, readonly RegExp[]>> = {
  ...ofAll('png apng jpg jpeg jpe jfif gif webp bmp tif tiff avif heic heif jxl', pictures),
  ...ofAll('mp4 m4v m4a mov webm weba mkv avi wav ogg oga ogv opus flac mp3 aac', recordings),
  ...ofAll('zip', [/^(504b|4d5a)/]),
  ...ofAll('glb vrm', [/^676c5446/]),
  ...ofAll('psd psb', [/^38425053/]),
  ...ofAll('pdf', [/255044462d/]),
};
/** Texts whose media type does not say so. */
const texts = ['srt', 'ass', 'ssa', 'lrc', 'sbv', 'jsonl', 'ndjson', 'json5', 'toml', 'sql', 'sh'];

function ofAll(extensions: string, signatures: readonly RegExp[]): Record<string, readonly RegExp[]> {
  return Object.fromEntries(extensions.split(' ').map((ext) => [ext, signatures]));
}

export interface ContentHead {
  /** A file name or an extension with its dot. */
  readonly name: string;
  /** The first {@link headBytes} of the content; fewer only where it has no more. */
  readonly head: Uint8Array;
  readonly mediaType?: string | undefined;
  /** The bytes of an encoded content tell nothing. */
  readonly contentEncoding?: string | undefined;
}

/** Why a content cannot be what its name says, such as a page as `.png`. Names of texts and unknown types take any. */
export function describeMismatch({ name, head, mediaType = '', contentEncoding }: ContentHead): string | undefined {
  const ext = /\.([A-Za-z0-9]+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
  const expected = lookup(ext) || '';
  const isText = /^text\/|[/+](json|xml|javascript)$/.test(expected) || texts.includes(ext);
  if (head.length === 0) return isText ? undefined : 'it has no byte';
  const said = mediaType.split(';')[0]?.trim().toLowerCase() ?? '';
  const isPageByHeader = /^text\/html$|[/+](json|xml)$/.test(said);
  const bytes = Buffer.from(head);
  const begin = bytes.toString('utf8').replace(/^\uFEFF?\s*/, '');
  const isPage =
    /^(<!doctype html|<!--|<html|<head|<body|<\?xml|<error>)/i.test(begin) || (isPageByHeader && /^[<{[]/.test(begin));
  const signatures = kinds[ext];
  let isOther = isPage && expected !== '' && !isText;
  if (contentEncoding !== undefined) isOther = isPageByHeader && signatures !== undefined;
  else if (signatures !== undefined) isOther = !isOneOf(signatures, bytes) && (isWords(bytes) || isOneOf(known, bytes));
  return isOther
    ? `it is ${isPage ? 'a page or a message' : 'something else'} (${said || 'of no type'}), and no .${ext}`
    : undefined;
}

/** Of all types. Bytes that are none of them may be an unknown form of their type, and were paid for. */
const known = [...pictures, ...recordings, /^504b0304/, /^676c5446/, /^38425053/];

function isOneOf(signatures: readonly RegExp[], bytes: Buffer): boolean {
  const hex = bytes.toString('hex');
  return signatures.some((one) => one.test(hex));
}

/** Text has no control characters but lines, tabs and escapes; UTF-16 begins with a mark. */
function isWords(bytes: Buffer): boolean {
  return (
    /^(fffe|feff)/.test(bytes.toString('hex', 0, 2)) || bytes.every((byte) => byte > 26 || (byte > 8 && byte < 14))
  );
}

/** Whether a content has the end that its format needs; undefined where the format does not tell. */
export function hasOwnEnd(head: Buffer, tail: Buffer, sizeBytes: number): boolean | undefined {
  const hex = head.toString('hex', 0, 12);
  if (hex.startsWith('89504e47')) return tail.includes('IEND');
  if (hex.startsWith('ffd8ff')) return tail.includes(Buffer.from([0xff, 0xd9]));
  if (hex.startsWith('474946')) return /3b(00)*$/.test(tail.toString('hex'));
  if (!hex.startsWith('52494646') || head.length < 8) return undefined;
  const bytes = head.readUInt32LE(4);
  // A program that streams its output does not know the length.
  return bytes === 0 || bytes === 0xffff_ffff ? undefined : bytes + 8 <= sizeBytes;
}
