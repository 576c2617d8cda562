import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { temporaryFolder } from '../../support/temporary-folder';

const folder = temporaryFolder();
afterAll(() => {
  folder.remove();
});

const modules = Array.from({ length: 200 }, (_, index) => {
  const path = join(folder.path, `module-${index}.js`);
  writeFileSync(path, `exports.index = ${index};`);
  return path;
});
const turns = Array.from({ length: 50 }, (_, index) => 2 * index);

describe('a test that runs beside others', () => {
  it.concurrent.each(turns)('ends after %s turns', async (count) => {
    let turn = 0;
    for (; turn < count; turn += 1) await nextTurn();
    expect(turn).toBe(count);
  });

  it.concurrent('may load a module on demand, also between the ends of two of them', async () => {
    const loaded: unknown[] = [];
    for (const path of modules) {
      await nextTurn();
      loaded.push(((await import(path)) as { readonly index: number }).index);
    }
    expect(loaded).toEqual(modules.map((_, index) => index));
  });
});
