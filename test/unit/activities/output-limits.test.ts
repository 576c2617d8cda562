import type { ServerResponse } from 'node:http';
import { noOutputLimits } from '../../../src/activities/output-limits';
import type { ArchivedFile } from '../../../src/storage/archive/archive';
import { FolderArchive } from '../../../src/storage/archive/folder-archive';
import { eventually } from '../../support/eventually';
import { contentOf, hashOf, type ResultsService } from '../../support/results-service';
import { ArchiveUnderTest, contentsOf, failureOf } from './archive-under-test';

const archive = new ArchiveUnderTest();
let service: ResultsService;
beforeEach(async () => {
  service = await archive.open();
});
afterEach(() => service.stop());
afterAll(() => archive.close());

const chunk = Buffer.alloc(64 * 1024, 'GIF89a');

/** Sends without end, as fast as it is taken. */
function sendEndlessly(response: ServerResponse): void {
  while (!response.destroyed && response.write(chunk));
  if (!response.destroyed) response.once('drain', sendEndlessly.bind(null, response));
}

/** Sends so many bytes, said before. */
function sendBytes(response: ServerResponse, bytes: number): void {
  response.writeHead(200, { 'content-length': bytes }).end(Buffer.alloc(bytes, 'GIF89a'));
}

describe('an output that is larger than it may be', () => {
  it('is refused before its first byte where its length is told, and its siblings are archived', async () => {
    archive.limits = { ...noOutputLimits, maxOutputBytes: 1_000 };
    service.outputs = () => ({ outputs: ['a', 'large', 'b'].map((name) => service.item(name)) });
    service.file = (name, response) => {
      if (name === 'large') sendBytes(response, 1_001);
      else response.end(contentOf(name));
    };
    const failure = await failureOf(archive.attempt());
    expect(failure).toMatchObject({ type: 'OutputUnavailable', nonRetryable: true });
    expect(failure.message).toMatch(/output 1: it has 1\.0 kB or more.*LONGHAUL_MAX_OUTPUT_BYTES/);
    expect(await archive.manifest()).toMatchObject({
      complete: false,
      outputs: [{ sha256: hashOf('a') }, { file: null, atLeastBytes: 1_000 }, { sha256: hashOf('b') }],
    });
    expect(archive.kept()).toEqual(['0.png', '2.png', 'manifest.json']);
  });

  it('is given up at the limit where its length is not told, and not fetched again before that is raised', async () => {
    archive.limits = { ...noOutputLimits, maxOutputBytes: 1_000_000 };
    service.outputs = () => ({ outputs: [service.item('endless')] });
    service.file = (_name, response) => {
      sendEndlessly(response);
    };
    expect(await failureOf(archive.attempt())).toMatchObject({ nonRetryable: true });
    await eventually(() => service.inFlight === 0);
    expect(archive.kept()).toEqual(['manifest.json']);
    expect(await failureOf(archive.attempt({}, 2))).toMatchObject({ nonRetryable: true });
    expect(service.fetched).toHaveLength(1);

    archive.limits = { ...noOutputLimits, maxOutputBytes: 3_000_000 };
    service.file = (_name, response) => {
      sendBytes(response, 2_500_000);
    };
    expect(await archive.attempt({}, 3)).toMatchObject({ outputBytes: 2_500_000 });
  });

  it('is one that would make its task too large, beside those that are there already', async () => {
    archive.limits = { ...noOutputLimits, maxTaskBytes: 1_000 };
    service.outputs = () => ({ outputs: ['a', 'b', 'c'].map((name) => service.item(name)) });
    service.file = (_name, response) => {
      sendBytes(response, 400);
    };
    const failure = await failureOf(archive.attempt());
    expect(failure.message).toMatch(/1 of 3 outputs.*LONGHAUL_MAX_TASK_BYTES/);
    expect(failure.nonRetryable).toBe(true);
    archive.limits = { ...noOutputLimits, maxTaskBytes: 1_200 };
    expect((await contentsOf(await archive.attempt({}, 2))).map(({ length }) => length)).toEqual([400, 400, 400]);
    expect(service.fetched).toHaveLength(4);
  });
});

describe('outputs of known lengths that are too much for their task together', () => {
  it('are refused before their first byte, and only as many as there are too many', async () => {
    archive.limits = { ...noOutputLimits, maxTaskBytes: 350_000 };
    service.outputs = () => ({ outputs: ['a', 'b', 'c', 'd'].map((name) => service.item(name)) });
    service.file = (_name, response) => {
      sendBytes(response, 100_000);
    };
    expect((await failureOf(archive.attempt())).message).toMatch(/1 of 4 outputs.*it has 100\.0 kB or more/);
    expect(archive.kept()).toHaveLength(4);
  });
});

describe('a disk with less left than is to stay free', () => {
  it('takes no output, tells it in words, and still takes the manifest', async () => {
    archive.limits = { ...noOutputLimits, reserveBytes: 1e18 };
    service.outputs = () => ({ outputs: ['a', 'b'].map((name) => service.item(name)) });
    const failure = await failureOf(archive.attempt());
    expect(failure).toMatchObject({ type: 'ArchiveUnavailable', nonRetryable: false });
    expect(failure.message).toContain('LONGHAUL_ARCHIVE_RESERVE_BYTES');
    expect(service.fetched).toEqual([]);
    expect(archive.kept()).toEqual(['manifest.json']);
    archive.limits = noOutputLimits;
    expect(await contentsOf(await archive.attempt({}, 2))).toEqual(['a', 'b'].map(contentOf));
  });
});

/** Takes the first byte late. */
class SlowArchive extends FolderArchive {
  override async put(...[name, content, options, signal]: Parameters<FolderArchive['put']>): Promise<ArchivedFile> {
    // All of it comes, and waits.
    content.read(0);
    const openedMs = performance.now();
    await eventually(() => performance.now() - openedMs >= 2_000, { what: 'three windows' });
    return await super.put(name, content, options, signal);
  }
}

describe('an output that comes too slowly', () => {
  it('is none that has come and waits for the archive', async () => {
    archive.limits = { ...noOutputLimits, minimumRate: { bytesPerSecond: 1_000, windowMs: 600 } };
    archive.openArchive = (folder) => new SlowArchive(folder);
    service.outputs = () => ({ outputs: [service.item('a')] });
    service.file = (_name, response) => {
      sendBytes(response, 100_000);
    };
    expect(await archive.attempt()).toMatchObject({ outputBytes: 100_000 });
  });

  it('is given up, and tried again later, while the others are archived', async () => {
    archive.limits = { ...noOutputLimits, minimumRate: { bytesPerSecond: 1_000, windowMs: 600 } };
    service.outputs = () => ({ outputs: ['a', 'slow', 'b'].map((name) => service.item(name)) });
    service.file = (name, response) => {
      if (name !== 'slow') {
        response.end(contentOf(name));
        return;
      }
      const timer = setInterval(() => response.write('x'), 100);
      response.once('close', () => {
        clearInterval(timer);
      });
    };
    const failure = await failureOf(archive.attempt());
    expect(failure).toMatchObject({ type: 'OutputUnavailable', nonRetryable: false, nextRetryDelay: 300_000 });
    expect(failure.message).toMatch(/output 1: it comes too slowly/);
    expect(archive.kept()).toEqual(['0.png', '2.png', 'manifest.json']);
  });
});
