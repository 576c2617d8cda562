import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { parseRowTemplate, type RowOptions } from '../../../../src/rows';
import type { Manifest } from '../../../../src/archive/manifest';
import { archiveTask } from '../../../support/archived-batch';
import { endedRow, RecordUnderTest } from '../../../support/record-under-test';

let batch: RecordUnderTest;
beforeEach(() => {
  batch = new RecordUnderTest();
});
afterEach(() => {
  batch.close();
});

/** Rows of this sheet are on record as succeeded, with manifests of what they were run with. */
async function ran(
  text: string,
  manifest: (index: number) => Partial<Manifest>,
  options: RowOptions = {},
): Promise<void> {
  const [reference, rows] = await batch.prepare('rows.csv', text, options);
  await batch.open(reference);
  const records = rows.map(async (row, index) => {
    const requestId = `3f0c2a4e-0000-4000-8000-00000000000${index}`;
    const path = await archiveTask(batch.archive, { requestId, files: {}, manifest: manifest(index) });
    return endedRow(row, 0, { requestId, manifest: path });
  });
  await batch.record(reference.digest, await Promise.all(records));
}

describe('of rows that changed, openBatch tells', () => {
  it('which inputs did, with their values before and now, shortened and without secrets', async () => {
    const file = (name: string): Manifest['inputs'][number] => {
      return { keys: ['1:A.b'], file: name, name, bytes: 1, sha256: 'ab', resourceId: 1 };
    };
    await ran('key,1:A.b,2:A.b,3:A.b,4:A.b\none,@s3://b/cat.jpg,1,gone,Bearer s3cret\n', () => ({
      inputs: [file('s3://b/cat.jpg')],
      values: { '2:A.b': 1, '3:A.b': 'gone', '4:A.b': 'Bearer s3cret' },
    }));
    const text = `key,1:A.b,2:A.b,4:A.b\none,@s3://b/dog.jpg,2,${'long '.repeat(100)}\n`;
    const [reference] = await batch.prepare('rows.csv', text);

    const { changed, changedRows } = await batch.refused(reference);

    expect(changed).toBe(1);
    expect(changedRows).toMatchObject([{ line: 2, key: 'one' }]);
    const [inputs] = changedRows.map(({ changedInputs }) => changedInputs);
    expect(inputs?.slice(0, 2)).toEqual([
      { key: '1:A.b', before: '"s3://b/cat.jpg"', now: '"s3://b/dog.jpg"' },
      { key: '2:A.b', before: '1', now: '2' },
    ]);
    expect(inputs?.[2]?.key).toBe('4:A.b');
    expect(inputs?.[2]?.before).toContain('[redacted]');
    expect(inputs?.[2]?.now.length).toBeLessThan(130);
  });

  it('staged photos by their names, contents and columns, not by where they are staged', async () => {
    const staged = (content: string, name: string): string => `s3://staging/pre/${content.repeat(64)}/${name}`;
    const files = {
      '1:A.b': { file: 's3://staging/pre/{photo}' },
      '2:A.b': { file: 's3://staging/pre/{mask}' },
      '3:A.b': { file: '{plain}' },
    };
    const template = parseRowTemplate(JSON.stringify({ webAppId: 5, inputs: files }));
    const inputs = [
      ['1:A.b', staged('a', 'cat.jpg')],
      ['2:A.b', staged('b', 'mask.png')],
      ['3:A.b', staged('c', 'plain.png')],
    ].map(([key = '', file = '']) => ({ keys: [key], file, name: 'x', bytes: 1, sha256: 'ab', resourceId: 1 }));
    const sheet = (...cells: string[]): string => `key,photo,mask,plain\none,${cells.join(',')}\n`;
    const cell = (content: string, name: string): string => `${content.repeat(64)}/${name}`;
    await ran(sheet(cell('a', 'cat.jpg'), cell('b', 'mask.png'), staged('c', 'plain.png')), () => ({ inputs }), {
      template,
    });
    const text = sheet(cell('d', 'cat.jpg'), cell('e', 'other.png'), 's3://b/plain.png');
    const [reference] = await batch.prepare('rows.csv', text, { template });

    expect((await batch.refused(reference)).changedRows[0]?.changedInputs).toEqual([
      { key: '1:A.b', columns: ['photo'], before: '"cat.jpg" (aaaaaaaa)', now: '"cat.jpg" (dddddddd)' },
      { key: '2:A.b', columns: ['mask'], before: '"mask.png" (bbbbbbbb)', now: '"other.png" (eeeeeeee)' },
      { key: '3:A.b', columns: ['plain'], before: '"plain.png" (cccccccc)', now: '"s3://b/plain.png"' },
    ]);
  });

  it('of one that is no longer there, and of another app', async () => {
    await ran('key,2:A.b,3:A.b\none,1,x\n', () => ({ webAppId: 6, values: { '2:A.b': 1, '3:A.b': 'x' } }));
    const [reference] = await batch.prepare('rows.csv', 'key,2:A.b\none,1\n');
    const { changedRows } = await batch.refused(reference);
    expect(changedRows[0]?.changedInputs).toEqual([
      { key: 'webAppId', before: '6', now: '5' },
      { key: '3:A.b', before: '"x"', now: 'missing' },
    ]);
  });

  it('nothing of inputs with one content, of which the manifest names one file', async () => {
    const both = {
      keys: ['1:A.b', '2:A.b'],
      file: 's3://b/a.jpg',
      name: 'a.jpg',
      bytes: 1,
      sha256: 'a',
      resourceId: 1,
    };
    const head = 'key,1:A.b,2:A.b,3:A.b\n';
    await ran(`${head}one,@s3://b/a.jpg,@s3://b/b.jpg,1\n`, () => ({ inputs: [both], values: { '3:A.b': 1 } }));
    const [reference] = await batch.prepare('rows.csv', `${head}one,@s3://b/a.jpg,@s3://b/b.jpg,2\n`);
    const { changedRows } = await batch.refused(reference);
    expect(changedRows[0]?.changedInputs).toEqual([{ key: '3:A.b', before: '1', now: '2' }]);
  });

  it('only the key where no manifest is there, or it is that of another task', async () => {
    await ran('key,2:A.b\none,1\ntwo,2\n', (index) => ({
      values: { '2:A.b': 7 },
      ...(index === 1 && { requestId: 'another-task' }),
    }));
    const [reference] = await batch.prepare('rows.csv', 'key,2:A.b\none,3\ntwo,4\n');
    const [, two] = (await batch.refused(reference)).changedRows;
    expect(two).toEqual({ line: 3, sheetRow: 3, key: 'two' });
  });

  it('only the key where its manifest cannot be read, which holds up no batch', async () => {
    await ran('key,2:A.b\none,1\n', () => ({ values: { '2:A.b': 1 } }));
    const [reference] = await batch.prepare('rows.csv', 'key,2:A.b\none,3\n');
    const manifest = join(batch.archive.location, '3f0c2a4e-0000-4000-8000-000000000000', 'manifest.json');
    rmSync(manifest);
    symlinkSync('manifest.json', manifest);

    expect((await batch.refused(reference)).changedRows).toEqual([{ line: 2, sheetRow: 2, key: 'one' }]);
  });
});

describe('the key that a row gave, where its task has another one,', () => {
  it('is told of rows that changed, of those that did not succeed, and stays on record when the row is gone', async () => {
    const [reference, [row]] = await batch.prepare('rows.csv', 'key,2:A.b\nA 20/ä,1\n');
    await batch.open(reference);
    const slug = { key: row!.key, originalKey: 'A 20/ä' };
    expect(row!.key).toMatch(/^A-20-a-[0-9a-f]{16}$/);
    const failed = { status: 'Failed', failure: { type: 'TaskFailed', message: 'no' } } as const;
    await batch.record(reference.digest, [endedRow(row!, 0, { ...failed, originalKey: 'A 20/ä' })]);
    expect((await batch.report(reference)).unsuccessful).toMatchObject([slug]);

    const [edited] = await batch.prepare('rows.csv', 'key,2:A.b\nA 20/ä,2\n');
    expect((await batch.refused(edited)).changedRows).toEqual([{ line: 2, sheetRow: 2, ...slug }]);

    const [renamed] = await batch.prepare('rows.csv', 'key,2:A.b\nB,1\n');
    expect((await batch.refused(renamed)).renamed).toEqual({
      newRows: 1,
      firstNew: [{ line: 2, sheetRow: 2, key: 'B' }],
      missingRows: 1,
      firstMissing: [slug],
    });
  });
});
