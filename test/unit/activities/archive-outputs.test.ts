import type { TransferProgress } from '../../../src/contract/activities';
import { eventually } from '../../support/eventually';
import { contentOf, hashOf, type ResultsService } from '../../support/results-service';
import { ArchiveUnderTest, contentsOf, failureOf, newEnvironment } from './archive-under-test';

const archive = new ArchiveUnderTest();
let service: ResultsService;
beforeEach(async () => {
  service = await archive.open();
});
afterEach(() => service.stop());
afterAll(() => archive.close());

describe('outputs of which one cannot be fetched', () => {
  it('are fetched and kept all but that one, whichever it is', async () => {
    const withoutLink = service.item('a', { object_url: undefined });
    service.outputs = () => ({ outputs: [withoutLink, service.item('b'), service.item('c'), service.item('d')] });
    const failure = await failureOf(archive.attempt());
    expect(failure).toMatchObject({ type: 'OutputUnavailable', nonRetryable: false });
    expect(failure.message).toContain('1 of 4 outputs');
    expect(failure.message).toMatch(/output 0.*no link/);
    expect(archive.kept()).toEqual(['1.png', '2.png', '3.png', 'manifest.json']);
    expect(await archive.manifest()).toMatchObject({
      complete: false,
      outputs: [
        { file: null, sha256: null, problem: expect.stringContaining('no link') as string },
        ...['b', 'c', 'd'].map((name, index) => ({ file: `${index + 1}.png`, sha256: hashOf(name), problem: null })),
      ],
    });
  });

  it('are not fetched again by the next attempt, which makes the manifest complete', async () => {
    const withoutLink = service.item('a', { object_url: undefined });
    service.outputs = () => ({ outputs: [withoutLink, service.item('b'), service.item('c')] });
    await failureOf(archive.attempt());
    service.outputs = () => ({ outputs: ['a', 'b', 'c'].map((name) => service.item(name)) });
    service.fetched.length = 0;
    const result = await archive.attempt({}, 2);
    expect(service.fetched).toEqual(['a']);
    expect(await contentsOf(result)).toEqual(['a', 'b', 'c'].map(contentOf));
    expect(await archive.manifest()).toMatchObject({ complete: true });
  });

  it('do not make a manifest incomplete again that another attempt completed meanwhile', async () => {
    service.outputs = () => ({ outputs: [service.item('a')] });
    const file = service.file;
    let other: Promise<unknown> | undefined;
    service.file = (_name, response) => {
      service.file = file;
      other = archive.attempt().finally(() => response.writeHead(404).end());
    };
    const failure = await failureOf(archive.attempt());
    await other;
    expect(failure.message).toContain('another attempt');
    expect(await archive.manifest()).toMatchObject({ complete: true, outputs: [{ file: '0.png' }] });
  });

  it('names no more than a few of many, with their number', async () => {
    service.outputs = () => ({ outputs: Array.from({ length: 300 }, (_, index) => service.item(String(index))) });
    service.file = (_name, response) => response.writeHead(500).end();
    const failure = await failureOf(archive.attempt());
    expect(failure.message).toContain('300 of 300 outputs');
    expect(failure.message.length).toBeLessThan(2_000);
    expect(service.mostInFlight).toBeLessThanOrEqual(4);
  });

  it('asks once for fresh links that several outputs need, not once for each', async () => {
    const names = Array.from({ length: 40 }, (_, index) => String(index));
    service.outputs = () => ({ outputs: names.map((name) => service.item(name)) });
    service.file = (name, response, query) => {
      if (query === '?signature=1') response.writeHead(403).end();
      else response.end(contentOf(name));
    };
    const result = await archive.attempt();
    expect(await contentsOf(result)).toEqual(names.map(contentOf));
    expect(service.questions).toBeLessThan(6);
  });

  it('stops asking for fresh links that do not work either', async () => {
    service.outputs = () => ({ outputs: Array.from({ length: 100 }, (_, index) => service.item(String(index))) });
    service.file = (_name, response) => response.writeHead(403).end();
    await failureOf(archive.attempt());
    expect(service.questions).toBeLessThan(10);
  });
});

describe('outputs that are fetched side by side', () => {
  it('come several at a time, and no more than four', async () => {
    const held: (() => void)[] = [];
    service.outputs = () => ({ outputs: Array.from({ length: 9 }, (_, index) => service.item(String(index))) });
    service.file = (name, response) => {
      held.push(() => response.end(contentOf(name)));
      // Only when four are there at the same time does any of them end.
      if (held.length === 4 || service.fetched.length === 9) for (const release of held.splice(0)) release();
    };
    expect((await archive.attempt()).outputs).toHaveLength(9);
    expect(service.mostInFlight).toBe(4);
  });

  it('are all let go when the activity is cancelled, and leave no part of a file', async () => {
    service.outputs = () => ({ outputs: Array.from({ length: 6 }, (_, index) => service.item(String(index))) });
    service.file = (_name, response) => void response.write('half');
    const environment = newEnvironment(1);
    const running = archive.attempt({}, 1, environment).catch((error: unknown) => error);
    await eventually(() => service.inFlight === 4);
    environment.cancel('CANCELLED');
    expect(await running).toMatchObject({ name: 'CancelledFailure' });
    await eventually(() => service.inFlight === 0);
    expect(archive.kept().filter((name) => name !== 'manifest.json')).toEqual([]);
  });

  it('tell in the heartbeat how many are there and how much has come', async () => {
    const heartbeats: TransferProgress[] = [];
    const environment = newEnvironment(1);
    environment.on('heartbeat', (details: TransferProgress) => heartbeats.push(details));
    let release = (): void => undefined;
    service.outputs = () => ({ outputs: ['0', '1', '2'].map((name) => service.item(name)) });
    service.file = (name, response) => {
      if (name === '2') release = () => response.end(contentOf(name));
      else response.end(contentOf(name));
    };
    const running = archive.attempt({}, 1, environment);
    await eventually(() => heartbeats.at(-1)?.name === '2 of 3 outputs');
    expect(heartbeats.at(-1)).toMatchObject({ transfer: 'archive', bytes: contentOf('0').length * 2 });
    release();
    await running;
  });
});

describe('a list of outputs that is not all there yet', () => {
  it('is asked for again while the service says that the task runs, and what it has is fetched', async () => {
    service.outputs = () => ({ status: 'Running', outputs: [service.item('a')] });
    const failure = await failureOf(archive.attempt());
    expect(failure).toMatchObject({ type: 'OutputUnavailable', nonRetryable: false, category: 'BENIGN' });
    expect(failure.message).toContain('Running');
    expect(archive.kept()).toEqual(['0.png', 'manifest.json']);
    expect(await archive.manifest()).toMatchObject({ complete: false });
    service.outputs = () => ({ outputs: ['a', 'b', 'c', 'd'].map((name) => service.item(name)) });
    const result = await archive.attempt({}, 2);
    expect(await contentsOf(result)).toEqual(['a', 'b', 'c', 'd'].map(contentOf));
    expect([...service.fetched].sort()).toEqual(['a', 'b', 'c', 'd']);
  });

  it.each(['Queuing', 'Preparing', 'Running', 'Uploading'])(
    'is not taken for a success without outputs: %s',
    async (status) => {
      service.outputs = () => ({ status, outputs: [] });
      expect(await failureOf(archive.attempt({}, 20))).toMatchObject({
        type: 'OutputUnavailable',
        nonRetryable: false,
      });
    },
  );

  it('is asked for again when it is that of another task, of which nothing is kept', async () => {
    service.outputs = () => ({ request_id: 'another', outputs: [service.item('a')] });
    const failure = await failureOf(archive.attempt());
    expect(failure).toMatchObject({ type: 'ServiceReplyInvalid', nonRetryable: false });
    expect(failure.message).toContain('another');
    expect(service.fetched).toEqual([]);
  });

  it('keeps what an earlier list had and this one lacks, and does not call it complete', async () => {
    service.outputs = () => ({ outputs: ['a', 'b', 'c'].map((name) => service.item(name)) });
    service.file = (name, response) => {
      if (name === 'a') response.end(contentOf(name));
      else response.writeHead(500).end();
    };
    await failureOf(archive.attempt());
    service.outputs = () => ({ outputs: [service.item('c')] });
    service.file = (name, response) => void response.end(contentOf(name));
    const failure = await failureOf(archive.attempt({}, 2));
    expect(failure.message).toMatch(/1 of 3 outputs.*output 1/);
    expect(await archive.manifest()).toMatchObject({
      outputs: [{ sha256: hashOf('a') }, { file: null }, { sha256: hashOf('c') }],
    });
  });

  it('may change its order between two attempts: each output is fetched once, under the name it had', async () => {
    service.outputs = () => ({ outputs: ['a', 'b', 'c'].map((name) => service.item(name)) });
    service.file = (name, response) => {
      if (name === 'b') response.writeHead(500).end();
      else response.end(contentOf(name));
    };
    await failureOf(archive.attempt());
    service.outputs = () => ({ outputs: ['c', 'b', 'a'].map((name) => service.item(name)) });
    service.file = (name, response) => void response.end(contentOf(name));
    service.fetched.length = 0;
    const result = await archive.attempt({}, 2);
    expect(service.fetched).toEqual(['b']);
    expect((await contentsOf(result)).sort()).toEqual(['a', 'b', 'c'].map(contentOf));
  });

  it('may change its order although the first attempt died before it wrote what it had', async () => {
    service.outputs = () => ({ outputs: ['a', 'b'].map((name) => service.item(name)) });
    let isFirstThere = false;
    service.file = (name, response) => {
      if (name === 'a') response.end(contentOf(name));
      else isFirstThere = true;
    };
    const environment = newEnvironment(1);
    const dying = archive.attempt({}, 1, environment).catch(() => undefined);
    await eventually(() => isFirstThere && archive.kept().includes('0.png'));
    environment.cancel('CANCELLED');
    await dying;
    service.outputs = () => ({ outputs: ['b', 'a'].map((name) => service.item(name)) });
    service.file = (name, response) => void response.end(contentOf(name));
    const result = await archive.attempt({}, 2);
    expect((await contentsOf(result)).sort()).toEqual(['a', 'b'].map(contentOf));
  });

  it('may change its order when fresh links are asked for', async () => {
    service.outputs = (question) => ({
      outputs: (question === 1 ? ['a', 'b', 'c'] : ['c', 'a', 'b']).map((name) => service.item(name)),
    });
    service.file = (name, response, query) => {
      if (query === '?signature=1') response.writeHead(403).end();
      else response.end(contentOf(name));
    };
    expect(await contentsOf(await archive.attempt())).toEqual(['a', 'b', 'c'].map(contentOf));
  });

  it('may grow when fresh links are asked for: what came late is fetched, too', async () => {
    service.outputs = (question) => ({
      outputs: (question === 1 ? ['a'] : ['a', 'b']).map((name) => service.item(name)),
    });
    service.file = (name, response, query) => {
      if (query === '?signature=1') response.writeHead(403).end();
      else response.end(contentOf(name));
    };
    expect(await contentsOf(await archive.attempt())).toEqual(['a', 'b'].map(contentOf));
  });

  it('may name one file twice: both are kept', async () => {
    service.outputs = () => ({ outputs: [service.item('a'), service.item('a')] });
    expect(await contentsOf(await archive.attempt())).toEqual([contentOf('a'), contentOf('a')]);
  });
});
