import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../support/temporary-folder';

const root = join(__dirname, '../../..');
const folder = temporaryFolder();
afterAll(folder.remove);

/** Reports as jest itself writes them: one of suites that go wrong in every way, one that is fine. */
let bad: string;
let good: string;
beforeAll(() => {
  bad = reportOf({
    'fine.test.js': `it('adds', () => {}); it('multiplies', () => {});`,
    'wrong.test.js': `describe('sums', () => { it('add up', () => { expect(1 + 1).toBe(3); }); });`,
    'broken.test.js': `require('./nowhere');`,
    'untidy.test.js': `afterAll(() => { throw new Error('left open'); }); it('works', () => {});`,
  });
  good = reportOf({ 'good.test.js': `it('works', () => {});` });
});

describe('the summary of a CI run', () => {
  it('counts the tests of all suites; checks that pass are not counted', () => {
    const { status, lines } = summarize({ lint: [0], tests: [0, good], browser: [0, good] });
    expect(lines.at(-1)).toBe('2 passed, 0 failed');
    expect(status).toBe(0);
  });

  it('counts a check that failed, by its name', () => {
    const { status, lines } = summarize({ lint: [1], tests: [0, good], browser: [0, good] });
    expect(lines).toContain('✕ lint: exit code 1');
    expect(lines.at(-1)).toBe('2 passed, 1 failed');
    expect(status).toBe(1);
  });

  it('counts failed tests, and suites that failed outside of their tests, with their messages', () => {
    const { status, lines } = summarize({ tests: [1, bad], browser: [0, good] });
    const text = lines.join('\n');
    expect(text).toMatch(/✕ .*wrong\.test\.js › sums add up\n.*expect\(received\)\.toBe\(expected\)/);
    expect(text).toMatch(/✕ .*broken\.test\.js\n[^✕]*Cannot find module/);
    expect(text).toMatch(/✕ .*untidy\.test\.js\n[^✕]*left open/);
    expect(lines.at(-1)).toBe('4 passed, 3 failed');
    expect(status).toBe(1);
  });

  it.each([
    ['without a report', [137, undefined], '✕ tests: it ended with exit code 137 and without a report'],
    [
      'with half a report',
      [1, '{"numPassedTests": 5, "testRe'],
      '✕ tests: it ended with exit code 1 and without a report',
    ],
    ['although no test failed', [124, 'GOOD'], '✕ tests: no test failed, but its exit code is 124'],
  ] as const)('counts a suite that ended badly %s', (_, [exitCode, text], words) => {
    const { status, lines } = summarize({ tests: [exitCode, text === 'GOOD' ? good : text], browser: [0, good] });
    expect(lines).toContain(words);
    expect(lines.at(-1)).toMatch(/^[12] passed, 1 failed$/);
    expect(status).toBe(1);
  });

  it('fails when a suite ran no test, and when it was never run', () => {
    const empty = reportOf({ 'other.js': '' }, ['--passWithNoTests']);
    const { status, lines } = summarize({ tests: [0, empty] });
    expect(lines).toEqual(expect.arrayContaining(['✕ tests: not one test was run', '✕ browser: it was never run']));
    expect(lines.at(-1)).toBe('0 passed, 2 failed');
    expect(status).toBe(1);
  });

  it('shows at most 40 failures of at most 25 lines, without the codes of colours', () => {
    const many = JSON.parse(bad) as { testResults: { name: string }[] };
    const wrong = many.testResults.find(({ name }) => name.endsWith('wrong.test.js'));
    const red = '\u001b[31mred\u001b[39m\n'.repeat(100);
    const assertionResults = Array.from({ length: 60 }, (_, n) => ({
      status: 'failed',
      fullName: `test ${n}`,
      failureMessages: [red],
    }));
    const report = JSON.stringify({ ...many, testResults: [{ ...wrong, assertionResults }] });
    const { lines } = summarize({ tests: [1, report], browser: [0, good] });
    expect(lines.filter((line) => line.startsWith('✕'))).toHaveLength(40);
    expect(lines.filter((line) => line === '    red')).toHaveLength(1_000);
    expect(lines).toContain('… and 20 more');
    expect(lines.at(-1)).toBe('4 passed, 60 failed');
  });
});

type Steps = Readonly<Record<string, readonly [exitCode: number, report?: string | undefined]>>;

function summarize(steps: Steps): { readonly status: number | null; readonly lines: readonly string[] } {
  const reports = mkdtempSync(join(folder.path, 'reports-'));
  const rows = Object.entries(steps).map(([name, [exitCode]]) => `${name}\t${exitCode}\t7\n`);
  writeFileSync(join(reports, 'steps.tsv'), rows.join(''));
  for (const [name, [, report]] of Object.entries(steps)) {
    if (report !== undefined) writeFileSync(join(reports, `${name}.json`), report);
  }
  const script = join(root, '.ci/summarize.js');
  const { status, stdout } = spawnSync(process.execPath, [script, reports, 'tests', 'browser'], { encoding: 'utf8' });
  return { status, lines: stdout.trimEnd().split('\n') };
}

/** What jest reports of these files. */
function reportOf(files: Readonly<Record<string, string>>, options: readonly string[] = []): string {
  const project = mkdtempSync(join(folder.path, 'project-'));
  mkdirSync(join(project, 'test'));
  writeFileSync(join(project, 'package.json'), '{}');
  for (const [name, code] of Object.entries(files)) writeFileSync(join(project, 'test', name), code);
  const file = join(project, 'report.json');
  const args = [require.resolve('jest/bin/jest'), '--json', `--outputFile=${file}`, '--rootDir', project, ...options];
  spawnSync(process.execPath, args, { cwd: project });
  return readFileSync(file, 'utf8');
}
