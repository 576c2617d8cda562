import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { identifyLink } from '../../../src/activities/link-identity';
import { type ResultsService, type WireItem } from '../../support/results-service';
import { ArchiveUnderTest, contentsOf, failureOf, newEnvironment, requestId } from './archive-under-test';

const archive = new ArchiveUnderTest();
let service: ResultsService;
beforeEach(async () => {
  service = await archive.open();
});
afterEach(() => service.stop());
afterAll(() => archive.close());

/** How a service leads to the file of an output; a signature is another one in each list. */
const styles = {
  path: (name: string, signature: string) => `${name}.png?Expires=1790000000&Signature=${signature}`,
  fileName: (name: string, signature: string) => `view?filename=${name}.png&type=output&sign=${signature}`,
  id: (name: string, signature: string) => `view?id=${uuidOf(name)}&sig=${signature}`,
  place: (_name: string, signature: string, place: number) => `view?index=${place}&token=${signature}`,
  token: (_name: string, signature: string) => `download?token=${signature}`,
  tokenInPath: (_name: string, signature: string) => `${signature}/result.png`,
  bare: (name: string) => `view?filename=${name}.png`,
  pathOfSome: (name: string, signature: string) =>
    name.endsWith('-0') ? `${name}.png?Signature=${signature}` : `${signature}/result.png`,
};

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function uuidOf(name: string): string {
  return sha256(name).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
}

/** A service whose lists and links change at every question, and remember what each link led to. */
class ChangingService {
  readonly #names = new Map<string, { readonly name: string; readonly question: number }>();

  readonly #style: keyof typeof styles;
  readonly #random: () => number;

  constructor(style: keyof typeof styles, random: () => number) {
    this.#style = style;
    this.#random = random;
  }

  /** A list of these outputs in any order. */
  list(names: readonly string[], question: number): WireItem[] {
    const shuffled = names.map((name) => [this.#random(), name] as const).sort(([a], [b]) => a - b);
    return shuffled.map(([, name], place) => {
      const link = styles[this.#style](name, sha256(`${question} ${name} ${this.#random()}`), place);
      this.#names.set(link, { name, question });
      return service.item(name, { object_url: `${service.url}/files/${link}`, cost_time: null });
    });
  }

  /** The output behind a link. */
  find(name: string, query: string): { readonly name: string; readonly question: number } | undefined {
    return this.#names.get(`${name}${query}`) ?? this.#names.get(`${name}.png${query}`);
  }
}

/** Numbers from 0 to 1 that a seed decides. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (state >>> 8) / 2 ** 24;
  };
}

function contentOf(name: string): string {
  return `GIF89a: picture ${name}`;
}

/** The contents of the files that the manifest names, each compared with its hash. */
async function archivedContents(): Promise<string[]> {
  const { outputs } = await archive.manifest();
  const contents = await Promise.all(
    outputs.map(async ({ file, sha256: hash }) => {
      const content = await readFile(join(archive.place, requestId, String(file)), 'utf8');
      expect(sha256(content)).toBe(hash);
      return content;
    }),
  );
  return contents.sort();
}

describe('outputs over lists that change', () => {
  it.each(Object.keys(styles) as (keyof typeof styles)[])(
    'are all archived, each under the manifest, whatever changes between attempts: %s',
    async (style) => {
      const property = fc.asyncProperty(fc.integer(), fc.integer({ min: 1, max: 5 }), async (seed, count) => {
        await service.stop();
        service = await archive.open();
        const random = randomOf(seed);
        const names = Array.from({ length: count }, (_, index) => `${seed}-${index}`);
        const changing = new ChangingService(style, random);
        let isCalm = false;
        service.outputs = (question) => {
          const listed = isCalm ? names : names.filter(() => random() < 0.8);
          return { status: isCalm ? 'Success' : 'Running', outputs: changing.list(listed, question) };
        };
        service.file = (name, response, query) => {
          const found = changing.find(name, query);
          const isExpired = !isCalm && found !== undefined && found.question < service.questions && style !== 'bare';
          if (found === undefined || isExpired || (!isCalm && random() < 0.2)) response.writeHead(403).end();
          else if (!isCalm && random() < 0.3) response.writeHead(500).end();
          else response.end(contentOf(found.name));
        };
        for (let attempt = 1; attempt <= 1 + Math.floor(random() * 4); attempt += 1) {
          const environment = newEnvironment(attempt);
          const ends = archive.attempt({}, attempt, environment).catch(() => undefined);
          if (random() < 0.2) environment.cancel('CANCELLED');
          await ends;
        }
        isCalm = true;
        await archive.attempt({}, 5);
        expect(await archivedContents()).toEqual(names.map(contentOf).sort());
      });
      await fc.assert(property, { numRuns: 25, seed: 27, endOnFailure: true });
    },
    120_000,
  );

  it.each(Object.keys(styles) as (keyof typeof styles)[])(
    'are all there when the archive is called complete, although items come without a link for a while: %s',
    async (style) => {
      const property = fc.asyncProperty(fc.integer(), fc.integer({ min: 2, max: 4 }), async (seed, count) => {
        await service.stop();
        service = await archive.open();
        const random = randomOf(seed);
        const names = Array.from({ length: count }, (_, index) => `${seed}-${index}`);
        const changing = new ChangingService(style, random);
        let isCalm = false;
        service.outputs = (question) => ({
          outputs: changing
            .list(names, question)
            .map((item) => (isCalm || random() < 0.7 ? item : { ...item, object_url: undefined })),
        });
        service.file = (name, response, query) => {
          const found = changing.find(name, query);
          if (found === undefined || (!isCalm && random() < 0.4)) response.writeHead(500).end();
          else response.end(contentOf(found.name));
        };
        const ends: (readonly string[] | null)[] = [];
        for (let attempt = 1; attempt <= 6; attempt += 1) {
          isCalm = attempt === 6;
          const isComplete = await archive.attempt({}, attempt).then(
            () => true,
            () => false,
          );
          ends.push(isComplete ? [...new Set(await archivedContents())] : null);
        }
        // One whose link comes and goes may be kept twice; none is missing, and none is another's.
        const whole = names.map(contentOf).sort();
        expect(ends.filter((end) => end !== null && end.join() !== whole.join())).toEqual([]);
        expect(ends.at(-1)).toEqual(whole);
      });
      await fc.assert(property, { numRuns: 25, seed: 27, endOnFailure: true });
    },
    120_000,
  );

  it('are told apart by their contents in a storage whose tags are no checksums, such as one that encrypts', async () => {
    const changing = new ChangingService('token', randomOf(3));
    service.outputs = (question) => ({ outputs: changing.list(['a', 'b', 'c'], question) });
    service.file = (name, response, query) => {
      const found = changing.find(name, query)?.name ?? '';
      const content = Buffer.from(contentOf(found));
      if (found === 'b' && service.questions === 1) response.writeHead(500).end();
      else
        response
          .writeHead(200, { etag: `"${sha256(found).slice(32)}"`, 'content-length': content.length })
          .end(content);
    };
    await failureOf(archive.attempt());
    expect((await contentsOf(await archive.attempt({}, 2))).sort()).toEqual(['a', 'b', 'c'].map(contentOf));
  });

  it('are told apart by a name in the query, and fetched once', async () => {
    const changing = new ChangingService('fileName', randomOf(3));
    service.outputs = (question) => ({ outputs: changing.list(['a', 'b', 'c'], question) });
    service.file = (name, response, query) => {
      const found = changing.find(name, query)?.name ?? '';
      if (found === 'b' && service.questions === 1) response.writeHead(500).end();
      else response.end(contentOf(found));
    };
    await failureOf(archive.attempt());
    service.fetched.length = 0;
    expect((await contentsOf(await archive.attempt({}, 2))).sort()).toEqual(['a', 'b', 'c'].map(contentOf));
    expect(service.fetched).toHaveLength(1);
  });
});

describe('what is remembered of a link', () => {
  it('holds nothing of its query, and is another one in another archive', () => {
    const link = 'https://host/view?filename=secret-name.png&sign=5ecret&jwt=eyJhbGciOi.eyJzdWIi.c2lnbmF0dXJl';
    const { text } = identifyLink(link, 'one');
    for (const part of ['secret', 'view', '5ecret', 'eyJ', 'host']) expect(text).not.toContain(part);
    expect(identifyLink(link, 'other').text).not.toBe(text);
    expect(identifyLink(link, 'one').text).toBe(text);
  });
});

describe('a request id that the service gives again', () => {
  const first = { createdAt: { iso: '2026-01-01T00:00:00.000Z', raw: '2026-01-01 08:00:00' } };
  const second = { createdAt: { iso: '2026-02-01T00:00:00.000Z', raw: '2026-02-01 08:00:00' } };

  async function archiveAs(
    name: string,
    input: Parameters<ArchiveUnderTest['attempt']>[0],
    workflowId: string,
  ): Promise<string[]> {
    service.outputs = () => ({ outputs: [service.item(name)] });
    const result = await archive.attempt(input, 1, newEnvironment(1, workflowId));
    return await contentsOf(result);
  }

  it.each<[string, Parameters<ArchiveUnderTest['attempt']>[0], Parameters<ArchiveUnderTest['attempt']>[0], string]>([
    ['to another workflow', { createNumber: 1 }, { createNumber: 1 }, 'task:order-18'],
    ['to another create of the workflow', { createNumber: 1 }, { createNumber: 2 }, 'task:order-17'],
    ['to a task that is adopted', { createNumber: 1, timestamps: first }, { timestamps: second }, 'task:adopter'],
  ])('%s: each task has its own files, and both are kept', async (_whom, one, other, workflowId) => {
    expect(await archiveAs('old', one, 'task:order-17')).toEqual(['GIF89a: content of old']);
    expect(await archiveAs('new', other, workflowId)).toEqual(['GIF89a: content of new']);
    expect(await archiveAs('old', one, 'task:order-17')).toEqual(['GIF89a: content of old']);
    expect(await archiveAs('new', other, workflowId)).toEqual(['GIF89a: content of new']);
    expect(service.fetched).toEqual(['old', 'new']);
  });

  it('is the same task for who adopts it, by the time of its create, and nothing is fetched again', async () => {
    await archiveAs('a', { createNumber: 1, timestamps: first }, 'task:order-17');
    await archiveAs('a', { timestamps: first }, 'task:adopter');
    expect(service.fetched).toEqual(['a']);
  });

  it('names no file as the new task’s own that lies in its folder without a manifest', async () => {
    await archiveAs('old', { createNumber: 1 }, 'task:order-17');
    await rm(join(archive.place, requestId, 'manifest.json'));
    expect(await archiveAs('new', { createNumber: 1 }, 'task:order-18')).toEqual(['GIF89a: content of new']);
  });
});
