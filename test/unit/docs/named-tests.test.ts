import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(__dirname, '../../..');

describe('docs/explanation/security.md', () => {
  const page = readFileSync(join(root, 'docs/explanation/security.md'), 'utf8');

  it('names a test that exists in every line of its tables', () => {
    const files = [...page.matchAll(/`(test\/[^`]+\.test\.ts)`/g)].map(([, file = '']) => file);
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
    const lines = page.split('\n').filter((line) => /^\| (?!Longhaul guarantees|-)/.test(line));
    expect(lines.length).toBeGreaterThan(20);
    expect(lines.filter((line) => !/`test\/[^`]+\.test\.ts`/.test(line))).toEqual([]);
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
