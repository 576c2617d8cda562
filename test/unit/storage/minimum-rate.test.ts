import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Socket } from 'node:net';
import { atMinimumRate } from '../../../src/storage/minimum-rate';
import type { OpenedSource } from '../../../src/storage/input/input-source';
import { openSource } from '../../../src/storage/input/open-source';
import { eventually } from '../../support/eventually';
import { startRawServer } from '../../support/start-raw-server';
import { temporaryFolder } from '../../support/temporary-folder';
import { tokenFor, uploadPath } from '../../support/upload-path';

const folder = temporaryFolder();
const minimumRate = { bytesPerSecond: 1_000, windowMs: 600 };
const size = 8 * 1024 * 1024;
const path = join(folder.path, 'film.mp4');

beforeAll(() => {
  writeFileSync(path, randomBytes(size));
});
afterAll(() => {
  folder.remove();
});

/** Sends so many bytes at a time, again and again, for as long as it may. */
function drip(socket: Socket, bytes: number, everyMs: number): void {
  const timer = setInterval(() => socket.write('x'.repeat(bytes)), everyMs);
  socket.once('close', () => {
    clearInterval(timer);
  });
}

function open(source: string): Promise<OpenedSource> {
  const inputHosts = ['127.0.0.1'];
  return openSource(source, {
    ...{ inputRoots: [], inputHosts, maxBytes: size, spoolFolder: folder.path },
    minimumRate,
  });
}

describe('an input that comes too slowly', () => {
  it.each<[string, (socket: Socket) => void]>([
    [
      'a body of a byte now and then',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n');
        drip(socket, 1, 100);
      },
    ],
    [
      'a head of a byte now and then',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\nx-');
        drip(socket, 1, 100);
      },
    ],
    [
      'a quick beginning, then a byte now and then',
      (socket) => {
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n${'x'.repeat(50_000)}`);
        drip(socket, 1, 100);
      },
    ],
  ])('is given up, with its rate and what to do, and its connection is closed: %s', async (_what, behave) => {
    const server = await startRawServer({ onFirstBytes: behave });
    const error: unknown = await open(`${server.url}/film.mp4?id=7`).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'TOO_SLOW', isRetryable: true });
    expect(String(error)).toMatch(
      /film\.mp4" comes too slowly: \d+ bytes a second over 0.6 s, where 1000 are the least/,
    );
    expect(String(error)).not.toContain('id=7');
    await server.close();
  });

  it('but keeps to the rate is fetched, however long it takes', async () => {
    const server = await startRawServer({
      onFirstBytes: (socket) => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 12000\r\n\r\n');
        // Three windows and more.
        drip(socket, 300, 50);
      },
    });
    const opened = await open(`${server.url}/film.bin`);
    expect(opened.sizeBytes).toBe(12_000);
    await opened.release();
    await server.close();
  });
});

describe('a storage that takes an upload too slowly', () => {
  function upload(port: number, parts?: { aboveBytes: number }): Promise<unknown> {
    const token = tokenFor(`http://slow.localhost:${port}`);
    const input = { token, path, sizeBytes: size, contentType: 'video/mp4', minimumRate };
    const plan = { aboveBytes: size, partBytes: 5 * 1024 * 1024, parallel: 2, attempts: 2, pauseMs: 1, ...parts };
    return uploadPath({ ...input, parts: plan });
  }

  it.each([
    ['in one PUT', undefined],
    ['in parts', { aboveBytes: 1 }],
  ])('is given up, with its rate and what to do: %s', async (_how, parts) => {
    const id = '<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>';
    const server = await startRawServer({
      onConnection: (socket) => {
        socket.once('data', (head) => {
          if (/^(POST|DELETE)/.test(head.toString())) {
            const type = 'content-type: application/xml\r\nconnection: close\r\n';
            socket.end(`HTTP/1.1 200 OK\r\n${type}content-length: ${id.length}\r\n\r\n${id}`);
            return;
          }
          if (/expect: 100-continue/i.test(head.toString())) socket.write('HTTP/1.1 100 Continue\r\n\r\n');
          // Takes something now and then, so that neither side is ever silent for long.
          socket.pause();
          const timer = setInterval(() => void socket.read(1), 100);
          socket.once('close', () => {
            clearInterval(timer);
          });
        });
      },
    });
    const error: unknown = await upload(server.port, parts).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'UPLOAD_TOO_SLOW', isRetryable: true });
    expect(String(error)).toMatch(/inputs\/photo\.jpg to my-bucket\.slow\.localhost is too slow: \d+ bytes a second/);
    await server.close();
  });
});

describe('atMinimumRate', () => {
  it('waits for an answer when all was sent, but not for ever', async () => {
    const rate = { bytesPerSecond: 10, windowMs: 60 };
    const startedMs = Date.now();
    const tooSlow = (rates: string): Error => new Error(rates);
    const sent = atMinimumRate({ rate, totalBytes: 5, tooSlow }, async (signal, onProgress) => {
      onProgress(5);
      return await new Promise<never>((_resolve, reject) => {
        signal?.addEventListener('abort', () => {
          reject(signal.reason as Error);
        });
      });
    });
    await expect(sent).rejects.toThrow('0 bytes a second');
    expect(Date.now() - startedMs).toBeGreaterThanOrEqual(4 * rate.windowMs);
  });
});

describe('a transfer without a byte', () => {
  it('is not given up while it waits for who takes its bytes, and is afterwards', async () => {
    let samples = 0;
    let isTaken = false;
    const rate = { bytesPerSecond: 1_000, windowMs: 60 };
    const isBlocked = (): boolean => {
      samples += 1;
      return !isTaken;
    };
    const failure = new Error('too slow');
    const transfer = atMinimumRate({ rate, isBlocked, tooSlow: () => failure }, async (signal) => {
      await eventually(() => samples >= 36, { what: 'three windows' });
      expect(signal?.aborted).toBe(false);
      isTaken = true;
      await eventually(() => signal?.aborted === true, { what: 'the end of the transfer' });
      signal?.throwIfAborted();
    });
    await expect(transfer).rejects.toBe(failure);
  });
});
