import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { layoutText, recordText } from '../../../src/archive/batch-record';
import { readRecordedRows } from '../../../src/archive/archive-reader';
import { FolderArchive } from '../../../src/storage/archive/folder-archive';
import { preparedRows } from '../../support/prepared-rows-under-test';
import { endedRow } from '../../support/record-under-test';
import { temporaryFolder } from '../../support/temporary-folder';

const folder = temporaryFolder();
afterAll(() => {
  folder.remove();
});

const digest = 'd'.repeat(64);
const pages = `results/${digest.slice(0, 12)}`;
const [here, aside, stale] = preparedRows([{ key: 'here' }, { key: 'aside' }, { key: 'stale' }]);

function put(id: string, name: string, text: string): void {
  const path = join(folder.path, 'batches', id, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function read(id: string): ReturnType<typeof readRecordedRows> {
  return readRecordedRows(new FolderArchive(folder.path), id);
}

describe('the rows on record', () => {
  it('are those of the pages that are there, however many the layout tells', async () => {
    put('many', 'batch.json', layoutText({ id: 'many', digest, rows: 1, pages: Number.MAX_SAFE_INTEGER }));
    put('many', `${pages}/0.jsonl`, recordText([endedRow(here!, 0)]));
    put('many', `${pages}/orphaned.jsonl`, recordText([endedRow(aside!, 0)]));
    put('many', `${pages}/notes.txt`, 'x');
    expect([...((await read('many')) ?? new Map()).keys()].sort()).toEqual(['aside', 'here']);

    put('fewer', 'batch.json', layoutText({ id: 'fewer', digest, rows: 1, pages: 1 }));
    put('fewer', `${pages}/0.jsonl`, recordText([endedRow(here!, 0)]));
    put('fewer', `${pages}/1.jsonl`, recordText([endedRow(stale!, 1)]));
    expect([...((await read('fewer')) ?? new Map()).keys()]).toEqual(['here']);
  });

  it('are not known of a batch whose layout is damaged or that of another batch; a new batch has none', async () => {
    expect(await read('new')).toBeNull();
    put('damaged', 'batch.json', '{"digest":"');
    await expect(read('damaged')).rejects.toThrow(/batch\.json is damaged: it does not say which rows/);
    put('Photos', 'batch.json', layoutText({ id: 'photos', digest, rows: 1, pages: 1 }));
    await expect(read('Photos')).rejects.toThrow('batch.json is that of the batch "photos"; give another --id.');
  });
});
