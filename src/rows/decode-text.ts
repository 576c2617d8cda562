import { showValue } from '../core/text';
import { optionNames, RowFileError } from './row-problem';

const names: Readonly<Record<string, string>> = {
  'utf-16le': 'UTF-16',
  'utf-16be': 'UTF-16',
  'windows-1252': 'Windows-1252',
  gbk: 'GBK',
};

/** Throws RowFileError for an encoding that is not known. */
export function requireEncoding(encoding: string): void {
  try {
    new TextDecoder(encoding);
  } catch {
    throw new RowFileError(
      `${optionNames.encoding} is ${showValue(encoding)}, which is not known; give one such as utf-8, utf-16, windows-1252 or gbk.`,
    );
  }
}

interface TextSource {
  /** In messages. */
  readonly name: string;
  /** By default it is recognised. */
  readonly encoding?: string | undefined;
  readonly onNotice?: ((message: string) => void) | undefined;
}

const mark = Buffer.from('\uFEFF');
/** By these many bytes from the first that is not ASCII. */
const sampleBytes = 65_536;

/**
 * As UTF-8. Up to the first byte that is not ASCII, the encoding makes no difference.
 * @throws RowFileError for text of another encoding than the one that was said or recognised.
 */
export async function* decodeText(
  chunks: AsyncIterable<Uint8Array>,
  { name, encoding, onNotice }: TextSource,
): AsyncGenerator<Uint8Array, void, undefined> {
  let pending: Buffer = Buffer.alloc(0);
  let decode = encoding === undefined ? undefined : decoding(name, encoding);
  let isStart = true as boolean;
  const settle = function* (isEnd: boolean): Generator<Uint8Array> {
    const first = isStart && zeroPattern(pending) !== undefined ? 0 : pending.findIndex((byte) => byte > 0x7f);
    if (first === -1) {
      yield* flush();
    } else if (isEnd || pending.length - first >= sampleBytes) {
      const found = (isStart ? zeroPattern(pending) : undefined) ?? recognise(pending.subarray(first), isEnd);
      if (found !== 'utf-8') {
        const text = decoding(name, found)(pending).toString();
        const words = text.split(/[\s;,|"]+/);
        const sample = showValue((words.find((word) => !isAscii(word)) ?? '').slice(0, 40));
        const seen = `${showValue(name)} is no UTF-8 but ${names[found] ?? found}`;
        // Letters of other languages are letters there, too: a wrong guess would be paid for.
        if (!found.startsWith('utf-16')) {
          throw new RowFileError(
            `${seen}, if ${sample} is a word as it should be: then say so by ${optionNames.encoding} ${found}, or else the one that is right.`,
          );
        }
        onNotice?.(`${seen}, and read so, such as ${sample}.`);
        if (isStart) yield mark;
      }
      decode = decoding(name, found);
      yield* flush();
    }
  };
  const flush = function* (): Generator<Uint8Array> {
    if (pending.length > 0) yield decode === undefined ? pending : decode(pending);
    isStart &&= pending.length === 0;
    pending = Buffer.alloc(0);
  };
  for await (const chunk of chunks) {
    pending = pending.length === 0 ? Buffer.from(chunk) : Buffer.concat([pending, chunk]);
    // A mark has two bytes, and what is told by zeros a few more.
    if (isStart && pending.length < headBytes) continue;
    if (decode === undefined) yield* settle(false);
    else yield* flush();
  }
  if (decode === undefined) yield* settle(true);
  yield* flush();
  yield decode?.() ?? Buffer.alloc(0);
}

/** A decoder whose output is UTF-8; rows that are not UTF-8 are reported one by one. */
function decoding(name: string, encoding: string): (bytes?: Uint8Array) => Uint8Array {
  if (/^utf-?8$/i.test(encoding)) return (bytes = Buffer.alloc(0)) => bytes;
  const decoder = new TextDecoder(encoding, { fatal: true });
  const isWindows = decoder.encoding === 'windows-1252';
  return (bytes) => {
    if (isWindows) return Buffer.from(decodeWindows(bytes ?? Buffer.alloc(0)));
    try {
      return Buffer.from(bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true }));
    } catch {
      throw new RowFileError(`${showValue(name)} is not ${encoding} throughout; say its ${optionNames.encoding}.`);
    }
  };
}

/** From 0x80. */
const windowsSigns = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';

/** Node decodes `windows-1252` as ISO-8859-1. */
function decodeWindows(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString('latin1');
  return text.replace(/[\x80-\x9f]/g, (sign) => windowsSigns.charAt(sign.charCodeAt(0) - 0x80));
}

function isAscii(text: string): boolean {
  return /^\p{ASCII}*$/u.test(text);
}

const headBytes = 64;

/** UTF-16, by its mark or by the zeros of its Latin letters, which text of no other encoding has. */
function zeroPattern(head: Buffer): string | undefined {
  const start = head.subarray(0, headBytes);
  if (start[0] === 0xff && start[1] === 0xfe) return 'utf-16le';
  if (start[0] === 0xfe && start[1] === 0xff) return 'utf-16be';
  const zeros = (odd: number): number => start.filter((byte, index) => byte === 0 && index % 2 === odd).length;
  const [even, odd] = [zeros(0), zeros(1)];
  if (Math.max(even, odd) < start.length / 4 || Math.min(even, odd) > 0 || start.length < 4) return undefined;
  return odd > 0 ? 'utf-16le' : 'utf-16be';
}

/** What is neither Windows-1252 nor GBK for sure is left as it is: its rows are refused. */
function recognise(bytes: Buffer, isEnd: boolean): string {
  const sample = bytes.subarray(0, sampleBytes);
  const text = sample.toString('latin1');
  const good = (text.match(/[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}/g) ?? []).join(
    '',
  );
  const high = (text.match(/[\x80-\xff]/g) ?? []).length;
  // A file of UTF-8 with a few other bytes stays one: its rows are reported.
  if (good.length * 2 > high) return 'utf-8';
  const runs = text.match(/[\x80-\xff]+/g) ?? [];
  // The last run may be cut.
  const whole = isEnd ? runs : runs.slice(0, -1);
  const pairs = runs.join('').match(/[\xa1-\xf7][\xa1-\xfe]/g) ?? [];
  // Level 1 of GB 2312 and punctuation. Letters of other alphabets stand in words of odd lengths, too.
  const usual = pairs.filter((pair) => /^[\xa1-\xa3\xb0-\xd7]/.test(pair));
  if (whole.length > 0 && whole.every(({ length }) => length % 2 === 0) && usual.length >= pairs.length * 0.7) {
    if (pairs.length * 2 >= high - 1) return 'gbk';
  }
  const western = decodeWindows(sample);
  const isWestern =
    whole.every(({ length }) => length <= 3) &&
    !/[\u0080-\u009f]/.test(western) &&
    // Letters of central Europe would be signs within a word.
    !/\p{L}(?!\p{ASCII}|[’‘–—·\u00ad\u00a0])\P{L}\p{L}/u.test(western) &&
    !/(?<=\p{L})[¹³¿£¥]|[¹³¿£¥](?=\p{Ll})/u.test(western);
  return isWestern ? 'windows-1252' : 'utf-8';
}
