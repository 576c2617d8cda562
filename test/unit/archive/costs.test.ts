import { existsSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { runCommandLine } from '../../../src/commands/program';
import { createRecordName } from '../../../src/contract/workflow-ids';
import type { Money } from '../../../src/money/money';
import { recordText } from '../../../src/archive/batch-record';
import { type CreateEnd, createRecordText } from '../../../src/archive/create-record';
import type { RowRecord } from '../../../src/archive/row-end';
import { type CostOfTask, type CostOutcome, costOutcomes, readCosts, sumCosts } from '../../../src/archive/costs';
import { readArchiveIdentity } from '../../../src/storage/archive/archive-identity';
import { FolderArchive } from '../../../src/storage/archive/folder-archive';
import { archiveTask } from '../../support/archived-batch';
import { FakeContext } from '../../support/fake-context';
import { useFuzzSeed } from '../../support/fuzz-seed';
import { temporaryFolder } from '../../support/temporary-folder';

useFuzzSeed();

let folder: ReturnType<typeof temporaryFolder>;
let archive: FolderArchive;
beforeEach(() => {
  folder = temporaryFolder();
  archive = new FolderArchive(join(folder.path, 'archive'));
});
afterEach(() => {
  folder.remove();
});

const eur = (micros: number): Money => ({ currency: 'EUR', micros });
const sentAt = '2026-03-01T23:59:59.000Z';

/** As records of earlier versions are: JSON leaves them out. */
const earlier: Readonly<Record<string, undefined>> = { account: undefined, webAppId: undefined };

async function create(workflowId: string, more: Partial<Parameters<typeof createRecordText>[0]> = {}): Promise<void> {
  const { createNumber = 1 } = more;
  const record = {
    workflowId,
    createNumber,
    sentAt,
    maker: 'm',
    callbackAsked: false,
    account: 'studio',
    webAppId: 5,
    requestId: null,
  };
  await archive.replace(createRecordName(workflowId, createNumber), createRecordText({ ...record, ...more }));
}

function ended(status: CreateEnd['status'], cost: Money | null): { readonly end: CreateEnd } {
  return { end: { status, createdAt: sentAt, costTimes: {}, cost } };
}

function row(key: string, more: Partial<RowRecord>): RowRecord {
  return {
    ...{ key, index: 0, line: 1, page: 0, digest: 'd', status: 'Success', requestId: `r-${key}`, createNumber: 1 },
    ...{ failure: null, outputs: [], outputCount: 1, outputBytes: 0, manifest: null, uploads: null },
    ...{ startedAt: sentAt, endedAt: sentAt },
    ...more,
  };
}

async function costs(): Promise<Map<CostOutcome, CostOfTask[]>> {
  const found = new Map<CostOutcome, CostOfTask[]>();
  for (const task of (await readCosts(archive, () => undefined)).tasks()) {
    found.set(task.outcome, [...(found.get(task.outcome) ?? []), task]);
  }
  return found;
}

/** In an archive that a worker has used. */
async function run(...args: string[]): Promise<FakeContext> {
  await readArchiveIdentity(archive);
  const context = new FakeContext({ LONGHAUL_ARCHIVE: archive.location });
  await runCommandLine(['costs', ...args], context);
  return context;
}

describe('what an archive knows of costs', () => {
  it('is told of every create by its record, also of one that left nothing and was followed by another', async () => {
    await create('batch:photos:a', { requestId: 'r-1', ...ended('Failed', eur(3)) });
    await create('batch:photos:a', { createNumber: 2, requestId: 'r-2', ...ended('Success', eur(5)) });
    await archiveTask(archive, { requestId: 'r-2', folder: 'batches/photos/outputs', files: { '0.png': 'x' } });
    await create('task:b', { requestId: 'r-3', ...ended('Canceled', eur(7)) });
    await create('task:c', { requestId: 'r-4', ...ended('Success', eur(11)) });
    await create('task:d', { requestId: 'r-5' });
    await create('task:e');
    await create('task:e', { createNumber: 2, requestId: 'r-6', ...ended('Success', null) });
    await archiveTask(archive, { requestId: 'r-6', files: { '0.png': 'x' }, manifest: { account: 'studio' } });
    await create('task:f', { requestId: 'r-7' });
    await create('task:f', { createNumber: 2, requestId: 'r-8', ...ended('Failed', { currency: 'USD', micros: 1 }) });
    const of = await costs();

    const told = costOutcomes.map((outcome) => [
      outcome,
      of
        .get(outcome)
        ?.map(({ cost }) => cost?.micros ?? null)
        .sort(),
    ]);
    expect(Object.fromEntries(told)).toEqual({
      succeeded: [5, null],
      failed: [1, 3],
      canceled: [7],
      lost: [11],
      createdTwice: [null],
      open: [null],
      uncertain: [null],
    });
    const failed = expect.objectContaining({ batch: 'photos', account: 'studio', webAppId: 5 }) as unknown;
    expect(of.get('failed')).toContainEqual(failed);
  });

  it('is taken from manifests and the records of batches where create records do not tell it, and counted once', async () => {
    await create('batch:photos:a', { ...earlier, requestId: 'r-a' });
    await create('batch:photos:b', { ...earlier, requestId: 'r-b' });
    await create('batch:photos:c', { ...earlier, requestId: 'r-c' });
    const manifest = {
      workflowId: 'batch:photos:a',
      cost: eur(3),
      timestamps: { createdAt: { iso: sentAt, raw: '' } },
    };
    const place = { folder: 'batches/photos/outputs', files: { '0.png': 'x' } };
    await archiveTask(archive, { requestId: 'r-a', ...place, manifest });
    await archiveTask(archive, { requestId: 'r-a', folder: 'copies', files: {}, manifest });
    const lost = { type: 'ResultLost', message: 'gone' };
    const records = [
      row('a', { cost: eur(3) }),
      row('b', { index: 1, status: 'Failed', failure: { type: 'TaskFailed', message: 'no' }, cost: eur(5) }),
      row('c', { index: 2, status: 'Failed', failure: lost }),
    ];
    await archive.replace('batches/photos/results/abc/0.jsonl', recordText(records));
    await archiveTask(archive, { requestId: 'made-elsewhere', files: {}, manifest: { webAppId: null, cost: null } });
    const of = await costs();

    expect(of.get('succeeded')?.map(({ cost, batch }) => [cost?.micros, batch])).toEqual([
      [3, 'photos'],
      [undefined, null],
    ]);
    expect(of.get('failed')).toMatchObject([{ cost: eur(5), batch: 'photos' }]);
    expect(of.get('lost')).toMatchObject([{ cost: null }]);
    expect([...of.values()].flat()).toHaveLength(4);
  });

  it('counts every attempt that the record of a batch tells once, as what it brought', async () => {
    await create('batch:photos:b', { requestId: 'r-known', ...ended('Failed', eur(7)) });
    const records = [
      row('a', {
        ...{ createNumber: 3, requestId: 'r-3', cost: eur(3), manifest: '/archive/r-3/manifest.json' },
        earlier: [
          { createNumber: 1, requestId: 'r-1', cost: eur(1) },
          { createNumber: 2, requestId: 'r-2' },
        ],
      }),
      row('b', {
        ...{ index: 1, createNumber: 2, status: 'Failed', failure: { type: 'TaskFailed', message: 'no' } },
        earlier: [
          { createNumber: 1, requestId: 'r-known', cost: eur(7) },
          { createNumber: 2, requestId: 'r-b', cost: eur(5) },
        ],
      }),
    ];
    await archive.replace('batches/photos/results/abc/0.jsonl', recordText(records));
    await archive.replace('batches/photos/results/abc/orphaned.jsonl', recordText(records.slice(0, 1)));
    const of = await costs();

    const told = [...of].map(([outcome, tasks]) => [outcome, tasks.map(({ cost }) => cost?.micros ?? null)]);
    expect(Object.fromEntries(told)).toEqual({ succeeded: [3], createdTwice: [null, 1], failed: [7, 5] });
    expect([...of.values()].flat().every(({ batch }) => batch === 'photos')).toBe(true);
  });

  it('leaves out what is damaged, and says so', async () => {
    await create('task:a', { requestId: 'r-1', ...ended('Failed', eur(3)) });
    await archive.replace(createRecordName('task:b', 1), '{"workflowId": "task:b", "requ');
    await archive.replace('r-2/manifest.json', '{"requestId"');
    await archive.replace('batches/photos/results/abc/0.jsonl', '{"records":7}\n');
    await archive.replace('notes/manifest.json', '{"name":"of something else"}');
    const { exitCode, stderr, stdout } = await run('--json');

    expect(exitCode).toBe(0);
    expect(stderr.text.match(/warning: .* is damaged/g)).toHaveLength(2);
    expect(JSON.parse(stdout.text)).toMatchObject({ total: { tasks: 2, sums: [eur(3)], unknown: 1 } });
  });
});

describe('longhaul costs', () => {
  beforeEach(async () => {
    await create('batch:photos:a', { requestId: 'r-1', ...ended('Failed', eur(20_000)) });
    await create('batch:photos:b', { requestId: 'r-2', ...ended('Success', eur(1_500_001)) });
    await archiveTask(archive, { requestId: 'r-2', files: { '0.png': 'x' } });
    const later = { sentAt: '2026-03-02T00:00:00.000Z', account: '=1+1', webAppId: 12 };
    const end = { ...ended('Success', { currency: 'USD', micros: 5 }).end, createdAt: later.sentAt };
    await create('task:c', { ...later, requestId: 'r-3', end });
    await archiveTask(archive, { requestId: 'r-3', files: { '0.png': 'x' } });
    await create('task:d', { ...later, requestId: 'r-4' });
  });

  it('prints a table, with what brought no result and what is not known told apart, and no currencies added', async () => {
    const { stdout, exitCode } = await run();

    expect(exitCode).toBe(0);
    expect(stdout.text.split('\n').map((line) => line.replaceAll(/ {2,}/g, ' | '))).toEqual([
      'BATCH | TASKS | COST | WITHOUT RESULT | UNKNOWN',
      'photos | 2 | 1.520001 EUR | 0.02 EUR | 0',
      '(no batch) | 2 | 0.000005 USD | - | 1',
      'total | 4 | 1.520001 EUR and 0.000005 USD | 0.02 EUR | 1',
      '',
      ' | 2 | succeeded: 1.500001 EUR and 0.000005 USD',
      ' | 1 | failed at the service: 0.02 EUR',
      ' | 1 | not over yet, or how they ended is not known: unknown',
      '',
    ]);
  });

  it.each([
    ['app', ['5', '12']],
    ['account', ['=1+1', 'studio']],
    ['day', ['2026-03-01', '2026-03-02']],
  ])('sums by %s', async (by, names) => {
    const { groups } = JSON.parse((await run('--by', by, '--json')).stdout.text) as { groups: { name: string }[] };
    expect(groups.map(({ name }) => name)).toEqual(names);
  });

  it('prints CSV in which every task is counted once, and no cell is a formula', async () => {
    const { stdout } = await run('--by', 'account', '--csv');
    expect(stdout.text.split('\n')).toEqual([
      'account,outcome,tasks,cost,currency',
      "'=1+1,succeeded,1,0.000005,USD",
      "'=1+1,open,1,unknown,",
      'studio,succeeded,1,1.500001,EUR',
      'studio,failed,1,0.02,EUR',
      '',
    ]);
  });

  it('leaves out what was created before --since, and refuses what it does not understand', async () => {
    const { total } = JSON.parse((await run('--since', '2026-03-02', '--json')).stdout.text) as { total: object };
    expect(total).toMatchObject({ tasks: 2, sums: [{ currency: 'USD', micros: 5 }] });
    expect((await run('--since', 'then')).exitCode).toBe(2);
    expect((await run('--json', '--csv')).exitCode).toBe(2);
    expect((await run('--by', 'colour')).exitCode).toBe(2);
  });
});

/** More of them by `TASKS`. */
const taskCount = Number(process.env['TASKS'] ?? 2_000);

describe(`the costs of ${taskCount} tasks`, () => {
  it('are read as their names are listed, a few files at a time', async () => {
    const numbers = Array.from({ length: taskCount }, (_, index) => index);
    let [reading, most, listed] = [0, 0, 0];
    const large: Parameters<typeof readCosts>[0] = {
      async *list(of) {
        for (const number of numbers) {
          await Promise.resolve();
          listed += 1;
          const name = of === '' ? `request-${number}/manifest.json` : createRecordName(`task:${number}`, 1);
          yield { name, bytes: 1, keptAtMs: 0 };
        }
      },
      async read(name) {
        reading += 1;
        most = Math.max(most, reading);
        await new Promise(setImmediate);
        reading -= 1;
        const number = Number(/(\d+)\.1\.json$/.exec(name)?.[1]);
        const record = {
          workflowId: `task:${number}`,
          createNumber: 1,
          sentAt,
          maker: 'm',
          callbackAsked: false,
          account: 'studio',
        };
        const end = ended('Success', eur(number));
        return Buffer.from(createRecordText({ ...record, webAppId: 5, requestId: `request-${number}`, ...end }));
      },
    };
    const { sources, tasks } = await readCosts(large, () => undefined);
    const { total } = sumCosts(tasks(), { by: 'account', sinceMs: 0 });

    expect(total).toMatchObject({
      tasks: taskCount,
      sums: [eur((taskCount * (taskCount - 1)) / 2)],
      withoutResult: [],
    });
    expect(sources).toEqual({ records: taskCount, manifests: taskCount, rows: 0, damaged: [] });
    expect([most <= 32, listed]).toEqual([true, 2 * taskCount]);
  });
});

describe('sums of costs', () => {
  it('are exact, and the same by whatever they are summed', () => {
    const task = fc.record({
      batch: fc.option(fc.constantFrom('a', 'b')),
      webAppId: fc.option(fc.nat({ max: 3 })),
      account: fc.option(fc.constantFrom('x', 'y')),
      atMs: fc.nat({ max: 400_000_000 }),
      outcome: fc.constantFrom(...costOutcomes),
      cost: fc.option(fc.record({ currency: fc.constantFrom('EUR', 'USD'), micros: fc.nat() })),
    });
    fc.assert(
      fc.property(fc.array(task), (tasks) => {
        const eurs = tasks.reduce((sum, { cost }) => (cost?.currency === 'EUR' ? sum + BigInt(cost.micros) : sum), 0n);
        for (const by of ['batch', 'app', 'account', 'day'] as const) {
          const { groups, total } = sumCosts(tasks, { by, sinceMs: 0 });
          const all = groups.flatMap(({ sums }) => sums.filter(({ currency }) => currency === 'EUR'));
          expect(all.reduce((sum, { micros }) => sum + BigInt(micros), 0n)).toBe(eurs);
          expect(BigInt(total.sums.find(({ currency }) => currency === 'EUR')?.micros ?? 0)).toBe(eurs);
          expect(groups.reduce((sum, { tasks: count }) => sum + count, 0)).toBe(tasks.length);
          expect(total.unknown).toBe(tasks.filter(({ cost }) => cost === null).length);
        }
      }),
    );
  });
});

it('longhaul costs sums nothing for a folder that is the archive of no worker, and leaves it as it is', async () => {
  const context = new FakeContext({ LONGHAUL_ARCHIVE: archive.location });
  await runCommandLine(['costs'], context);
  expect(context).toMatchObject({ exitCode: 2 });
  expect(context.stdout.text).toBe('');
  expect(context.stderr.text).toMatch(/LONGHAUL_ARCHIVE: .* is not the archive of any worker: .*mount its disk/);
  expect(existsSync(archive.location)).toBe(false);
});
