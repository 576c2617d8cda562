import { createHash } from 'node:crypto';
import { PassThrough, Readable } from 'node:stream';
import { createFail, type OpenedSource, spoolSource } from '../../../src/storage/input/input-source';
import { createArchiveClient } from '../../../src/storage/s3/s3-client';
import { spoolFile } from '../../../src/storage/spool';
import { Staging } from '../../../src/storage/staging';
import { eventually } from '../../support/eventually';
import { temporaryFolder } from '../../support/temporary-folder';

const temporary = temporaryFolder();
afterAll(() => {
  temporary.remove();
});

async function spool(body: Readable, signal?: AbortSignal): Promise<OpenedSource> {
  return await spoolSource(body, {
    ...{ name: 'a.png', announcedBytes: 0, signal, onProgress: () => undefined, fail: createFail('a.png') },
    rules: { maxBytes: 1_000_000, spoolFolder: temporary.path },
  });
}

describe('a stream of objects', () => {
  it.each([
    ['an object', { bytes: 'no' }, 'object'],
    ['a number', 7, 'number'],
  ])('that brings %s is refused with what to give, and ends nothing else', async (_name, value, type) => {
    const words = `the stream brought a value that is no bytes (${type}); give bytes or text`;

    await expect(spool(Readable.from([Buffer.from('first'), value]))).rejects.toThrow(words);
  });

  it('is refused where it is staged, too, by the name of the file', async () => {
    const client = createArchiveClient(true, { region: 'eu-1', endpoint: 'http://127.0.0.1:1' });
    const staging = new Staging({ client, bucket: 'bucket', prefix: '' });

    await expect(staging.keepContent(Readable.from([{ bytes: 'no' }]), 'a.png')).rejects.toMatchObject({
      code: 'UNREADABLE',
      message: '"a.png" cannot be read (the stream brought a value that is no bytes (object); give bytes or text)',
    });
  });

  it('is taken as its bytes when it brings buffers, other views and text, more of them than wait', async () => {
    const values = Array.from({ length: 50 }, (_, index) => [
      Buffer.from([index]),
      new Uint16Array([index]),
      'ä',
    ]).flat();
    const bytes = Buffer.concat(
      values.map((value) =>
        typeof value === 'string' ? Buffer.from(value) : Buffer.from(value.buffer, value.byteOffset, value.byteLength),
      ),
    );

    const { file, ...measure } = await spoolFile(Readable.from(values));
    const written = Buffer.alloc(bytes.length);
    await file.read(written, 0, written.length, 0);
    await file.close();

    expect(measure).toEqual({ bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') });
    expect(written.equals(bytes)).toBe(true);
  });
});

describe('a stream that stalls', () => {
  it('is destroyed when the signal is aborted, and fails with the reason of that', async () => {
    const stalled = new PassThrough();
    const stopped = new AbortController();
    const spooling = spool(stalled, stopped.signal);
    stalled.write('first');
    await eventually(() => stalled.readableLength === 0, { what: 'the first bytes to be read' });
    stopped.abort(new Error('the order was withdrawn'));

    await expect(spooling).rejects.toThrow('the order was withdrawn');
    expect(stalled.destroyed).toBe(true);
  });
});
