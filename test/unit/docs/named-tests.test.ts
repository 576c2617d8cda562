import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { requestFaults, processFaults } from '../../faults/matrix';

const root = join(__dirname, '../../..');
const rowsOfTheMatrix: Readonly<Record<string, object>> = {
  'test/faults/process-faults.test.ts': processFaults,
  'test/faults/request-faults.test.ts': requestFaults,
};

const pageOf = (name: string): string => readFileSync(join(root, 'docs/explanation', name), 'utf8');

/** The tests that the page names by file and name, one or several; a line may break between them. */
function namedTests(text: string): { file: string; name: string }[] {
  return [...text.matchAll(/`(test\/[^`]+)`\s+›\s+((?:“[^”]+”,?\s*)+)/g)].flatMap(([, file = '', names = '']) =>
    [...names.matchAll(/“([^”]+)”/g)].map(([, name = '']) => ({ file, name })),
  );
}

function exists({ file, name }: { file: string; name: string }): boolean {
  const rows = rowsOfTheMatrix[file] ?? {};
  return name in rows || readFileSync(join(root, file), 'utf8').includes(`'${name}'`);
}

describe.each(['operations.md', 'security.md'])('docs/explanation/%s', (file) => {
  const page = pageOf(file);

  it('names only tests that exist', () => {
    const files = [...page.matchAll(/`(test\/[^`]+\.test\.ts)`/g)].map(([, file = '']) => file);
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
    expect(namedTests(page).filter((test) => !exists(test))).toEqual([]);
  });

  it('names a test in every line of its tables', () => {
    const lines = page
      .split('\n')
      .filter((line) => line.startsWith('| ') && !/^\| (What happens|Longhaul guarantees|-)/.test(line));
    expect(lines.length).toBeGreaterThan(20);
    expect(lines.filter((line) => !/`test\/[^`]+\.test\.ts`/.test(line))).toEqual([]);
  });
});

describe('docs/explanation/operations.md', () => {
  it('has a line for every row of the matrix, or for one like it', () => {
    const named = new Set(namedTests(pageOf('operations.md')).map(({ name }) => name));
    expect(Object.keys(processFaults).filter((fault) => !named.has(fault))).toEqual([]);
  });
});

describe.each(['ARCHITECTURE.md', 'CONTRIBUTING.md'])('%s', (file) => {
  const sources = ['src', 'test', 'tools'].flatMap((folder) => {
    return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .map((path) => readFileSync(join(root, folder, path), 'utf8'));
  });
  const words = new Set(sources.flatMap((source) => source.match(/\w+/g) ?? []));

  it('names only what the code has', () => {
    const page = readFileSync(join(root, file), 'utf8');
    const names = [...page.matchAll(/`(\w*[a-z][A-Z]\w*)`/g)].map(([, name = '']) => name);
    expect(names.length).toBeGreaterThan(2);
    expect(names.filter((name) => !words.has(name))).toEqual([]);
  });
});
