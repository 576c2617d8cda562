import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type PreparedRowFile, prepareRows, type PrepareRowsOptions, readRows, rowFileAt } from '../../../src/rows';
import { listFiles } from '../../support/list-files';
import { temporaryFolder } from '../../support/temporary-folder';

const files = temporaryFolder();
afterAll(() => {
  files.remove();
});

function prepare(
  name: string,
  lines: readonly string[],
  more: Partial<PrepareRowsOptions> = {},
): Promise<PreparedRowFile> {
  const path = join(files.path, `${name}.csv`);
  writeFileSync(path, `key,2:ImageScale.width\n${lines.join('\n')}\n`);
  const rows = readRows(rowFileAt(path), { common: { webAppId: 1 } });
  return prepareRows(rows, { folder: join(files.path, name), name, ...more });
}

describe('prepared rows', () => {
  it('are named by their content, so that the same rows are the same file and other rows another one', async () => {
    const first = await prepare('same', ['a,1', 'b,2']);
    const again = await prepare('same', ['a,1', 'b,2']);
    const other = await prepare('same', ['a,1', 'b,3']);

    const location = first.rows?.location ?? '';
    const hash = createHash('sha256').update(readFileSync(location)).digest('hex').slice(0, 12);
    expect(location).toBe(join(files.path, 'same', `same-${hash}.rows.jsonl`));
    expect(again.rows).toEqual(first.rows);
    expect(other.rows?.location).not.toBe(location);
    expect(listFiles(join(files.path, 'same'))).toHaveLength(4);
  });

  it('are not written when a row is bad, unless bad rows are to be skipped', async () => {
    const refused = await prepare('bad', ['a,1', 'b,']);
    expect(refused).toMatchObject({ rows: null, report: { goodRows: 1, badRows: 1 } });
    expect(listFiles(join(files.path, 'bad'))).toEqual([]);

    const skipped = await prepare('bad', ['a,1', 'b,'], { skipBad: true });
    expect(skipped).toMatchObject({ rows: { rows: 1, pages: 1 }, report: { badRows: 1 } });
  });

  it.each([
    ['is never closed', 'b,"2\nc,3', /^A quote that opens on line 3 is never closed.* \(to line 5\)/],
    ['is closed in a later row', 'b,"2\nc,"3"', /^The quotes in lines 3 to 4 do not match/],
  ])('are not written, also when bad rows are to be skipped, where a quote %s', async (_, lines, message) => {
    await expect(prepare('quote', ['a,1', lines], { skipBad: true })).rejects.toThrow(message);
    expect(listFiles(join(files.path, 'quote'))).toEqual([]);
  });

  it('that cannot be written are a clear error', async () => {
    const folder = join(files.path, 'file.csv', 'inside');
    await expect(prepare('file', ['a,1'], { folder })).rejects.toThrow(
      /prepared rows cannot be written to ".*inside" \(ENOTDIR\); make the folder writable/,
    );
  });
});
