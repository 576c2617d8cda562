import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { eventually } from '../../support/eventually';
import { contentOf, hashOf, type ResultsService } from '../../support/results-service';
import { ArchiveUnderTest, contentsOf, failureOf, requestId } from './archive-under-test';

const archive = new ArchiveUnderTest();
let service: ResultsService;
beforeEach(async () => {
  service = await archive.open();
});
afterEach(() => service.stop());
afterAll(() => archive.close());

describe('outputs that the service reports as failed', () => {
  const failed = { output_ext: '.png', error_type: 'EXECUTION_ERROR', error_msg: 'no memory' };

  it('are told beside those that are archived, in result and manifest', async () => {
    service.outputs = () => ({ outputs: [service.item('a'), failed] });
    const result = await archive.attempt();
    expect(result).toMatchObject({
      outputs: [{ sha256: hashOf('a') }],
      outputCount: 1,
      failedOutputs: [{ index: 1, errorType: 'EXECUTION_ERROR', message: 'no memory' }],
      failedOutputCount: 1,
    });
    expect(await archive.manifest()).toMatchObject({
      complete: true,
      outputs: [{ file: '0.png' }, { file: null, errorType: 'EXECUTION_ERROR', errorMessage: 'no memory' }],
    });
  });

  it('are fetched when there is a link all the same that works, whatever their error type', async () => {
    service.outputs = () => ({ outputs: [service.item('a', { error_type: 'NSFW_WARNING', error_msg: 'look twice' })] });
    const result = await archive.attempt();
    expect(await contentsOf(result)).toEqual([contentOf('a')]);
    expect(result).toMatchObject({ outputs: [{ errorType: 'NSFW_WARNING' }], failedOutputCount: 0 });
  });

  it('count as failed, not as missing, when their link leads nowhere', async () => {
    service.outputs = () => ({ outputs: [service.item('a'), service.item('b', failed)] });
    service.file = (name, response) => {
      if (name === 'b') response.writeHead(404).end();
      else response.end(contentOf(name));
    };
    expect(await archive.attempt()).toMatchObject({
      outputCount: 1,
      failedOutputs: [{ index: 1, message: 'no memory' }],
    });
  });

  it('are told in few words, without links, however much the service says', async () => {
    const wordy = {
      ...failed,
      error_type: 'E'.repeat(10_000),
      error_msg: `see https://host/a?signature=s3cr3t ${'x'.repeat(5_000)}`,
    };
    service.outputs = () => ({ outputs: Array.from({ length: 400 }, () => wordy) });
    const result = await archive.attempt();
    expect(result.failedOutputCount).toBe(400);
    expect(JSON.stringify(result).length).toBeLessThan(40_000);
    expect(JSON.stringify(result)).not.toContain('s3cr3t');
    expect(JSON.stringify(await archive.manifest())).not.toContain('s3cr3t');
  });
});

describe('a passing failure of one part', () => {
  it.each(['NSFW_WARNING', 'EXECUTION_ERROR', 'UNKNOWN'])(
    'is not the word of the service: an output with the error type %s and a link waits for its storage',
    async (errorType) => {
      service.outputs = () => ({ outputs: [service.item('a', { error_type: errorType })] });
      service.file = (_name, response) => response.writeHead(503).end();
      expect(await failureOf(archive.attempt({}, 50))).toMatchObject({
        type: 'OutputUnavailable',
        nonRetryable: false,
      });
    },
  );

  it('does not end the task: outputs that say Failed are asked for again while its detail says Success', async () => {
    service.outputs = () => ({
      status: 'Failed',
      outputs: [{ error_type: 'EXECUTION_ERROR', error_msg: 'no memory' }],
    });
    expect(await failureOf(archive.attempt())).toMatchObject({ type: 'OutputUnavailable', nonRetryable: false });
    service.outputs = () => ({ status: 'Failed', outputs: [] });
    expect(await failureOf(archive.attempt({}, 7))).toMatchObject({ type: 'OutputUnavailable', nonRetryable: false });
    service.outputs = () => ({ outputs: [service.item('a')] });
    expect(await contentsOf(await archive.attempt({}, 8))).toEqual([contentOf('a')]);
  });
});

describe('what comes in the place of an output', () => {
  it.each<[string, (response: ServerResponse) => unknown]>([
    ['a sign-in page', (response) => response.end('<!DOCTYPE html><title>Sign in</title>')],
    ['a message', (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"code":50000}')],
    ['nothing', (response) => response.writeHead(200, { 'content-length': 0 }).end()],
    [
      'half a file without a length',
      (response) => {
        endWithConnection(response, 'GIF89a: half of');
      },
    ],
    [
      'other bytes than their checksum says',
      (r) => r.writeHead(200, { 'content-md5': md5Of('b') }).end(contentOf('a')),
    ],
  ])('is not kept, and the file is once it comes: %s', async (_what, answer) => {
    service.outputs = () => ({ outputs: [service.item('a')] });
    service.file = (_name, response) => void answer(response);
    expect(await failureOf(archive.attempt())).toMatchObject({ type: 'OutputUnavailable', nonRetryable: false });
    expect(archive.kept()).toEqual(['manifest.json']);
    service.file = (name, response) => void response.end(contentOf(name));
    expect(await contentsOf(await archive.attempt({}, 2))).toEqual([contentOf('a')]);
  });

  it('is fetched again and compared where nothing proves its end, and the manifest says so', async () => {
    const whole = `\0\0\0\x18ftypmp42${'x'.repeat(600)}`;
    service.outputs = () => ({ outputs: [service.item('a', { output_ext: '.mp4' })] });
    let times = 0;
    service.file = (_name, response) => {
      times += 1;
      endWithConnection(response, times === 1 ? whole.slice(0, 300) : whole);
    };
    expect(await failureOf(archive.attempt())).toMatchObject({ type: 'OutputUnavailable' });
    expect(await contentsOf(await archive.attempt({}, 2))).toEqual([whole]);
    expect(await archive.manifest()).toMatchObject({ complete: true, outputs: [{ fetchedTwice: true }] });
  });

  it('is kept where the extension says that the app makes pages', async () => {
    service.outputs = () => ({ outputs: [service.item('a', { output_ext: '.html' })] });
    service.file = (_name, response) => response.end('<!DOCTYPE html>');
    expect(await contentsOf(await archive.attempt())).toEqual(['<!DOCTYPE html>']);
  });
});

/** As HTTP/1.0 servers do. */
function endWithConnection(response: ServerResponse, body: string): void {
  response.socket?.end(`HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${body}`);
}

function md5Of(name: string): string {
  return createHash('md5').update(contentOf(name)).digest('base64');
}

describe('a result of very many outputs', () => {
  it('stays small, says how many there are, and the manifest has all', async () => {
    const count = 1_200;
    const names = Array.from({ length: count }, (_, index) => String(index));
    service.outputs = () => ({ outputs: names.map((name) => service.item(name)) });
    const result = await archive.attempt();
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(300_000);
    expect(result).toMatchObject({ outputCount: count });
    expect(result.outputs.length).toBeGreaterThan(300);
    expect(result.outputBytes).toBe(names.reduce((sum, name) => sum + contentOf(name).length, 0));
    expect((await archive.manifest()).outputs).toHaveLength(count);
  });
});

describe('results that are gone at the service', () => {
  it.each([
    [404, 'TaskNotFound'],
    [410, 'OutputUnavailable'],
  ])('are asked for again before that is believed: HTTP %i', async (status, type) => {
    service.outputs = () => status;
    expect(await failureOf(archive.attempt({}, 7))).toMatchObject({ type, nonRetryable: false });
    expect(await failureOf(archive.attempt({}, 8))).toMatchObject({ type: 'ResultLost', nonRetryable: true });
  });

  it('are held for a person when fresh links lead nowhere again and again', async () => {
    service.outputs = () => ({ outputs: [service.item('a'), service.item('b')] });
    service.file = (_name, response) => response.writeHead(403).end();
    expect(await failureOf(archive.attempt({}, 7))).toMatchObject({ type: 'OutputUnavailable', nonRetryable: false });
    expect(await failureOf(archive.attempt({}, 8))).toMatchObject({
      ...{ type: 'OutputUnavailable', nonRetryable: true },
      details: [{ linksAreDead: true, archived: 0, outputs: 2 }],
    });
  });

  it('are tried on while one output fails for another reason', async () => {
    service.outputs = () => ({ outputs: [service.item('a'), service.item('b')] });
    service.file = (name, response) => response.writeHead(name === 'a' ? 403 : 500).end();
    expect(await failureOf(archive.attempt({}, 50))).toMatchObject({ nonRetryable: false });
  });
});

describe('an output whose file cannot be written', () => {
  it('does not keep the others from the archive', async () => {
    service.outputs = () => ({ outputs: ['a', 'b', 'c'].map((name) => service.item(name)) });
    await mkdir(join(archive.place, requestId, '1.png', 'in the way'), { recursive: true });
    const failure = await failureOf(archive.attempt());
    expect(failure.type).toBe('ArchiveUnavailable');
    expect(failure.message).toMatch(/1 of 3 outputs.*output 1/);
    await rm(join(archive.place, requestId, '1.png'), { recursive: true });
    expect(await contentsOf(await archive.attempt({}, 2))).toEqual(['a', 'b', 'c'].map(contentOf));
  });

  it('is fetched again when it was kept and is not there any more once the manifest is written', async () => {
    service.outputs = () => ({ outputs: ['a', 'b'].map((name) => service.item(name)) });
    service.file = (name, response) => {
      if (name === 'a') response.end(contentOf(name));
      else {
        void eventually(() => archive.kept().includes('0.png')).then(async () => {
          await rm(join(archive.place, requestId, '0.png'));
          response.end(contentOf(name));
        });
      }
    };
    expect(await failureOf(archive.attempt())).toMatchObject({ type: 'ArchiveUnavailable', nonRetryable: false });
    expect(await archive.manifest()).toMatchObject({ complete: false, outputs: [{ file: null }, { file: '1.png' }] });
    service.file = (name, response) => void response.end(contentOf(name));
    expect(await contentsOf(await archive.attempt({}, 2))).toEqual(['a', 'b'].map(contentOf));
  });

  it('is archived although the manifest of an earlier attempt is damaged', async () => {
    service.outputs = () => ({ outputs: ['a', 'b'].map((name) => service.item(name)) });
    await mkdir(join(archive.place, requestId), { recursive: true });
    await writeFile(join(archive.place, requestId, 'manifest.json'), '{"requestId": "3f0c');
    expect(await contentsOf(await archive.attempt())).toEqual(['a', 'b'].map(contentOf));
  });
});

describe('an output that its storage sends compressed without being asked to', () => {
  it('is kept as it came, and the manifest says how it is encoded, also after a second attempt', async () => {
    const bytes = gzipSync(contentOf('a'));
    const asked: unknown[] = [];
    service.outputs = () => ({ outputs: [service.item('a'), service.item('b')] });
    service.file = (name, response) => {
      asked.push(response.req.headers['accept-encoding']);
      if (name === 'b') response.writeHead(200, { 'content-encoding': 'identity' }).end(contentOf(name));
      else response.writeHead(200, { 'content-encoding': 'gzip' }).end(bytes);
    };
    for (const attempt of [1, 2]) {
      const [first] = (await archive.attempt({}, attempt)).outputs;
      expect(await readFile(first?.path ?? '')).toEqual(bytes);
      const [a, b] = (await archive.manifest()).outputs;
      expect(a).toMatchObject({ bytes: bytes.length, contentEncoding: 'gzip' });
      expect(b).not.toHaveProperty('contentEncoding');
    }
    expect(new Set(asked)).toEqual(new Set(['identity']));
  });
});
