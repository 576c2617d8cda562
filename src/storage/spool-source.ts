import { parse } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { contentTypeOf } from './content-type';
import { SourceError, type SourceErrorCode } from './errors';
import type { OpenedSource, SourceRules } from './opened-source';
import { openNameless } from './spool-file';
import { safeCause } from './system-error';
import { TransferMeter } from './transfer-meter';
import { hearOut } from './write-content';

/** Makes the error about one source. */
export type Fail = (code: SourceErrorCode, problem: string, remedy: string, cause?: unknown) => SourceError;

/** A source on its way here. */
export interface IncomingSource {
  /** Its file name. */
  readonly name: string;
  /** How large it is said to be; 0 when that is not known. */
  readonly announcedBytes: number;
  readonly rules: Pick<SourceRules, 'maxBytes' | 'spoolFolder'>;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: OnProgress;
  readonly fail: Fail;
}

/** Called often, with the bytes that are here so far. */
export type OnProgress = (bytes: number) => void;

/** How errors about this source are made. */
export function failureOf(source: string): Fail {
  return (code, problem, remedy, cause) =>
    new SourceError(code, { source, problem, remedy }, cause === undefined ? undefined : { cause: safeCause(cause) });
}

/** A name from elsewhere without anything that separates, hides or is endless; its extension stays. */
export function plainFileName(name: string): string {
  const { name: stem, ext } = parse(name.replace(/[\p{Cc}\p{Cf}/\\]/gu, '_'));
  return `${stem.slice(0, 100)}${ext.slice(0, 20)}` || 'input';
}

/**
 * Streams a source into a temporary file that only this user can read, and that has no name: when it is released, or its
 * process dies, it is gone.
 *
 * @throws SourceError `EMPTY` or `TOO_LARGE`, the signal's reason, what the body fails with, or the system's error.
 */
export async function spoolSource(body: Readable, incoming: IncomingSource): Promise<OpenedSource> {
  const { name, announcedBytes, rules, signal, onProgress, fail } = incoming;
  const tooLarge = (): SourceError =>
    fail('TOO_LARGE', `has more than ${rules.maxBytes} bytes`, `give a file of at most ${rules.maxBytes} bytes`);
  if (announcedBytes > rules.maxBytes) throw tooLarge();
  const meter: TransferMeter = new TransferMeter(
    () => undefined,
    (bytes) => {
      onProgress(bytes);
      if (bytes > rules.maxBytes) meter.destroy(tooLarge());
    },
  );
  // Before the first wait: a body that fails while nobody reads it would end the process.
  hearOut(body);
  const file = await openNameless(rules.spoolFolder);
  try {
    const write = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
      for await (const chunk of chunks) await file.writeFile(chunk);
    };
    await pipeline(body, meter, write, { ...(signal !== undefined && { signal }) });
    if (meter.bytes === 0) throw fail('EMPTY', 'is empty', 'give a file that has content');
    return { name, sizeBytes: meter.bytes, file, contentType: contentTypeOf(name), release: () => file.close() };
  } catch (error) {
    await file.close();
    throw error;
  }
}
