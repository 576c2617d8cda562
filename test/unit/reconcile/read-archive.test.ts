import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRecordName } from '../../../src/contract/workflow-ids';
import { KnownTasks } from '../../../src/reconcile/known-tasks';
import { readArchive } from '../../../src/reconcile/read-archive';
import { FolderArchive } from '../../../src/storage/archive/folder-archive';
import { ArchiveError } from '../../../src/storage/errors';
import { temporaryFolder } from '../../support/temporary-folder';

const folder = temporaryFolder();
let archive: FolderArchive;
let count = 0;

beforeEach(() => {
  count += 1;
  archive = new FolderArchive(join(folder.path, String(count)));
});
afterAll(() => {
  folder.remove();
});

function manifest(requestId: string, outputs: readonly { file: string | null; bytes: number | null }[]): string {
  return JSON.stringify({
    ...{ manifestVersion: 1, complete: true, status: 'Success' },
    requestId,
    account: 'studio',
    archivedAt: '2026-03-01T12:00:00.000Z',
    outputs: outputs.map((output) => ({ ...output, sha256: output.file === null ? null : 'ab' })),
  });
}

/** @param sinceMs - where it is given, every file is hashed that is not older */
async function read(sinceMs = 0): Promise<KnownTasks> {
  const known = new KnownTasks({ sinceMs, taskQueue: null });
  const options = {
    verify: sinceMs > 0,
    sinceMs,
    changesSinceMs: null,
    signal: undefined,
    onProgress: () => undefined,
  };
  await readArchive(archive, known, options);
  return known;
}

/** What came of the manifests: the task, where an archive of it is whole or not, and what is wrong. */
async function archived(): Promise<unknown[]> {
  const known = [...(await read()).all()].map((task) => [task.requestId, task.account, task.archived]);
  return known.sort();
}

describe('the manifests of an archive', () => {
  it('are found under every name that a task may have, each with the files beside it', async () => {
    const nothing = { file: null, bytes: null };
    await archive.replace('r-1/manifest.json', manifest('r-1', [{ file: '0.png', bytes: 3 }, nothing]));
    await archive.replace('r-1/0.png', 'abc');
    await archive.replace('my drafts/7/r%2F2/manifest.json', manifest('r/2', [{ file: '0.png', bytes: 3 }]));
    await archive.replace('night/row-3/manifest.json', manifest('r-3', [{ file: '0.png', bytes: 3 }]));
    await archive.replace('night/row-3/0.png', 'abcd');
    await archive.replace('night/row-4-manifest.json', manifest('r-4', [{ file: 'row-4-0.png', bytes: 3 }]));
    await archive.replace('night/row-4-0.png', 'abc');

    expect(await archived()).toEqual([
      ['r-1', 'studio', { folder: '', problems: [] }],
      ['r-3', 'studio', { folder: '', problems: ['night/row-3/0.png has 4 bytes instead of 3'] }],
      ['r-4', 'studio', { folder: '', problems: [] }],
      ['r/2', 'studio', { folder: 'my drafts/7', problems: ['my drafts/7/r%2F2/0.png is missing'] }],
    ]);
  });

  it('that were written while outputs were missing say so', async () => {
    const partial = JSON.parse(manifest('r-1', [{ file: '0.png', bytes: 3 }])) as Record<string, unknown>;
    await archive.replace('r-1/manifest.json', JSON.stringify({ ...partial, complete: false }));
    await archive.replace('r-1/0.png', 'abc');
    expect(await archived()).toEqual([
      ['r-1', 'studio', { folder: '', problems: ['r-1/manifest.json says that outputs are missing'] }],
    ]);
  });

  it('that are none any more are named where the name tells of what, and others let alone', async () => {
    await archive.replace('drafts/r-1/manifest.json', '{"manifestVersion":1,"requ');
    await archive.replace('night/row-4-manifest.json', '{"manifestVersion":1,"requ');
    await archive.replace('web/manifest.json', '{"name":"a web page"}');

    expect(await archived()).toEqual([
      ['r-1', null, { folder: 'drafts', problems: ['drafts/r-1/manifest.json cannot be read as a manifest'] }],
    ]);
  });
});

describe('a manifest that names very many files', () => {
  it('has the first that are missing named, and the archive is not asked about the others', async () => {
    const outputs = Array.from({ length: 5_000 }, (_none, index) => ({ file: `${index}.png`, bytes: 3 }));
    await archive.replace('r-1/manifest.json', manifest('r-1', outputs));
    const asked = jest.spyOn(archive, 'size');

    const [task] = [...(await read()).all()];

    expect(task?.archived?.problems).toHaveLength(21);
    expect(task?.archived?.problems.at(-1)).toBe('4980 more were not looked at');
    expect(asked).toHaveBeenCalledTimes(20);
  });
});

describe('the create records of an archive', () => {
  it('tell which task was made, or that nobody knows', async () => {
    const sentAt = '2026-03-01T12:00:00.000Z';
    const record = (workflowId: string, requestId: string | null): string =>
      JSON.stringify({ workflowId, createNumber: 1, sentAt, requestId });
    await archive.putIfAbsent(createRecordName('task:a', 1), record('task:a', 'r-1'));
    await archive.putIfAbsent(createRecordName('task:b', 1), record('task:b', null));
    await archive.putIfAbsent(createRecordName('task:c', 2), '{"workflowId":"ta');

    const known = await read();

    expect([...known.all()]).toMatchObject([{ requestId: 'r-1', workflowId: 'task:a' }]);
    const uncertain = [...known.uncertainCreates()].sort((one, other) => one.createNumber - other.createNumber);
    expect(uncertain).toMatchObject([
      { workflowId: 'task:b', createNumber: 1, sentAtMs: Date.parse(sentAt) },
      { workflowId: 'task:c', createNumber: 2, sentAtMs: null },
    ]);
  });

  it('are none in an archive that is not there', async () => {
    expect([...(await read()).all()]).toEqual([]);
  });
});

describe('what was kept before the comparison begins', () => {
  it('is known by its name, without being read, and keeps its task safe', async () => {
    const outputs = [{ file: '0.png', bytes: 3 }];
    await archive.replace('drafts/r-1/manifest.json', manifest('r-1', outputs));
    await archive.replace('night/row-2-manifest.json', manifest('r-2', []));
    await archive.putIfAbsent(createRecordName('task:a', 1), 'not read');
    await archive.putIfAbsent(createRecordName('odd', 1), JSON.stringify({ workflowId: 'odd', requestId: 'r-3' }));
    const asked = jest.spyOn(archive, 'read');
    const known = await read(Date.now() + 60_000);

    // A name from which no task can be read says nothing.
    expect(asked.mock.calls.map(([name]) => name).sort()).toEqual([
      createRecordName('odd', 1),
      'night/row-2-manifest.json',
    ]);
    expect([...known.all()].map(({ requestId }) => requestId)).not.toContain('r-1');
    known.addListed('r-1');
    expect([...known.all()]).toContainEqual(
      expect.objectContaining({ requestId: 'r-1', archived: { folder: 'drafts', problems: [] } }),
    );
    expect([...known.uncertainCreates()]).toEqual([]);
  });

  it('has none of its files looked at or hashed, whatever its manifest is called', async () => {
    await archive.replace('night/row-4-manifest.json', manifest('r-4', [{ file: 'row-4-0.png', bytes: 3 }]));
    await archive.replace('night/row-4-0.png', 'abc');
    const sizes = jest.spyOn(archive, 'size');
    const hashed = jest.spyOn(archive, 'find');

    expect([...(await read(Date.now() + 60_000)).all()]).toMatchObject([
      { requestId: 'r-4', archived: { problems: [] } },
    ]);
    expect([sizes.mock.calls, hashed.mock.calls]).toEqual([[], []]);
  });

  it('is compared although it holds what is not its own, which is counted', async () => {
    await archive.replace('r-1/manifest.json', manifest('r-1', []));
    const folderOfOthers = join(archive.location, 'back\\slash');
    mkdirSync(folderOfOthers);
    writeFileSync(join(folderOfOthers, 'manifest.json'), '{}');
    const known = new KnownTasks({ sinceMs: 0, taskQueue: null });
    const options = { verify: false, sinceMs: 0, changesSinceMs: null, signal: undefined, onProgress: () => undefined };
    const { count } = await readArchive(archive, known, options);
    expect([...known.all()]).toMatchObject([{ requestId: 'r-1', archived: { problems: [] } }]);
    expect(count).toEqual({ records: 0, manifests: 1, foreign: 1, firstForeign: 'back\\slash' });
  });

  it('is compared although single files cannot be read, which are not taken for safe', async () => {
    await archive.replace('r-1/manifest.json', manifest('r-1', []));
    await archive.replace('r-2/manifest.json', manifest('r-2', []));
    await archive.replace('r-3/manifest.json', manifest('r-3', []));
    const failures = new Map([
      ['r-2/manifest.json', 1],
      ['r-3/manifest.json', Infinity],
    ]);
    const readFile = archive.read.bind(archive);
    jest.spyOn(archive, 'read').mockImplementation(async (name) => {
      const left = failures.get(name) ?? 0;
      failures.set(name, left - 1);
      if (left > 0) throw new ArchiveError('ARCHIVE_UNUSABLE', 'it is in cold storage');
      return await readFile(name);
    });
    expect(await archived()).toEqual([
      ['r-1', 'studio', { folder: '', problems: [] }],
      ['r-2', 'studio', { folder: '', problems: [] }],
      ['r-3', null, { folder: '', problems: ['r-3/manifest.json cannot be read as a manifest'] }],
    ]);
  });

  it('is not compared when it is the archive that cannot be read', async () => {
    for (let number = 1; number < 30; number += 1) await archive.replace(`r-${number}/manifest.json`, '{}');
    jest.spyOn(archive, 'read').mockRejectedValue(new ArchiveError('ARCHIVE_UNUSABLE', 'access denied'));
    await expect(read()).rejects.toThrow(ArchiveError);
  });

  it('is read as far as it changed, with what known tasks need of the rest', async () => {
    const record = (workflowId: string, requestId: string): string =>
      JSON.stringify({ workflowId, createNumber: 1, sentAt: '2026-03-01T12:00:00.000Z', requestId });
    for (const id of ['1', '2']) {
      await archive.replace(createRecordName(`task:${id}`, 1), record(`task:${id}`, `r-${id}`));
      await archive.replace(`r-${id}/manifest.json`, manifest(`r-${id}`, []));
      await archive.replace(`named/${id}-manifest.json`, manifest(`r-${id}`, [{ file: 'gone.png', bytes: 1 }]));
    }
    const reads = jest.spyOn(archive, 'read');
    const known = new KnownTasks({ sinceMs: 0, taskQueue: null });
    known.addEarlier({ requestId: null, account: null, workflowId: 'task:1' });
    const changesSinceMs = Date.now() + 3_600_000;
    const options = { verify: false, sinceMs: 0, changesSinceMs, signal: undefined, onProgress: () => undefined };
    const { readUnnamed } = await readArchive(archive, known, options);
    expect(reads.mock.calls.map(([name]) => name)).toEqual([createRecordName('task:1', 1), 'r-1/manifest.json']);
    expect([...known.all()]).toMatchObject([{ requestId: 'r-1', archived: { problems: [] } }]);
    expect(await readUnnamed()).toBe(true);
    expect([...known.all()].map(({ requestId }) => requestId)).toEqual(['r-1']);
  });

  it('is read no further once the reader is stopped', async () => {
    for (const number of [1, 2, 3]) await archive.replace(`r-${number}/manifest.json`, manifest(`r-${number}`, []));
    const known = new KnownTasks({ sinceMs: 0, taskQueue: null });
    const signal = AbortSignal.abort(new Error('stopped'));
    const options = { verify: false, sinceMs: 0, changesSinceMs: null, signal, onProgress: () => undefined };
    await expect(readArchive(archive, known, options)).rejects.toThrow('stopped');
    expect([...known.all()]).toEqual([]);
  });
});
