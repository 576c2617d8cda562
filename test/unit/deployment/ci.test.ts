import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../support/temporary-folder';

const root = join(__dirname, '../../..');
const folder = temporaryFolder();
afterAll(folder.remove);

/** What jest reports of one suite whose tests pass. */
const good = JSON.stringify({
  ...{ numPassedTests: 3, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0, testResults: [] },
});

describe('.ci/run', () => {
  /** Stands for npm: does what the environment says for each step, and records the call. A suite writes its report. */
  const standIn = `#!/usr/bin/env bash
cat
echo "$*" >>calls
key=$(tr -c 'a-z\\n' '_' <<<"$*" | cut -c1-8)
for argument in "$@"; do
  case $argument in --outputFile=*) echo '${good}' >"\${argument#*=}" ;; esac
done
eval "\${!key-:}"
`;

  function runCi(name: string, env: NodeJS.ProcessEnv = {}) {
    const checkout = join(folder.path, name);
    mkdirSync(join(checkout, 'bin'), { recursive: true });
    mkdirSync(join(checkout, 'lib'));
    cpSync(join(root, '.ci'), join(checkout, '.ci'), { recursive: true });
    writeFileSync(join(checkout, 'bin/npm'), standIn, { mode: 0o755 });
    writeFileSync(join(checkout, 'lib/cli.js'), '');
    const { status, stdout } = spawnSync('bash', ['.ci/run'], {
      cwd: checkout,
      env: { ...process.env, ...env, PATH: `${join(checkout, 'bin')}:${process.env['PATH'] ?? ''}` },
      input: 'nobody reads this\n',
      encoding: 'utf8',
    });
    const calls = readFileSync(join(checkout, 'calls'), 'utf8');
    return { status, lines: stdout.trimEnd().split('\n'), calls: calls.trimEnd().split('\n') };
  }

  it('installs, runs every check and the tests, builds, and counts the tests; a process that a step leaves behind holds up nothing', () => {
    const { status, lines, calls } = runCi('good', {
      run_lint: 'touch wanted; while [ -e wanted ]; do sleep 0.2; done &',
    });
    rmSync(join(folder.path, 'good/wanted'));

    expect(calls.map((call) => call.replace(/ -- .*/, ''))).toEqual([
      'ci',
      ...['typecheck', 'lint', 'format:check', 'deps:check', 'unused'].map((script) => `run ${script}`),
      'test',
      ...['system', 'browser', 'topology', 'packages', 'languages'].map((suite) => `run test:${suite}`),
      'run build',
    ]);
    expect(lines.filter((line) => /^-- .*: exit code 0 after \d+ s$/.test(line))).toHaveLength(14);
    expect(lines).not.toContain('nobody reads this');
    expect([lines.at(-1), status]).toEqual(['18 passed, 0 failed', 0]);
  });

  it('goes on after a failure, shows its long output from both ends, and fails in the end', () => {
    const { status, lines, calls } = runCi('failing', {
      run_lint: 'seq -f "line %.0f" 1 5000',
      run_unus: 'seq -f "unused %.0f" 1 5000; exit 2',
    });

    expect(calls).toContain('run build');
    expect(lines.join('\n')).toMatch(/^-- unused: exit code 2 after \d+ s$/m);
    expect(lines).toEqual(expect.arrayContaining(['line 1', 'line 400', 'unused 1', 'unused 400', 'unused 5000']));
    expect(lines).not.toContain('line 401');
    expect(lines).not.toContain('line 5000');
    expect([lines.at(-1), status]).toEqual(['18 passed, 1 failed', 1]);
  });
});

describe('the summary of a CI run', () => {
  type Steps = Readonly<Record<string, readonly [exitCode: number, report?: string]>>;

  function summarize(steps: Steps) {
    const reports = mkdtempSync(join(folder.path, 'reports-'));
    const rows = Object.entries(steps).map(([name, [exitCode]]) => `${name}\t${exitCode}\t7\n`);
    writeFileSync(join(reports, 'steps.tsv'), rows.join(''));
    for (const [name, [, report]] of Object.entries(steps)) {
      if (report !== undefined) writeFileSync(join(reports, `${name}.json`), report);
    }
    const script = [join(root, '.ci/summarize.js'), reports, 'tests', 'browser'];
    const { status, stdout } = spawnSync(process.execPath, script, { encoding: 'utf8' });
    const lines = stdout.trimEnd().split('\n');
    return { lines, end: [lines.at(-1), status] };
  }

  it('counts the tests of all suites, and checks only when they fail', () => {
    expect(summarize({ lint: [0], tests: [0, good], browser: [0, good] }).end).toEqual(['6 passed, 0 failed', 0]);
    const { lines, end } = summarize({ lint: [1], tests: [0, good], browser: [0, good] });
    expect(lines).toContain('✕ lint: exit code 1');
    expect(end).toEqual(['6 passed, 1 failed', 1]);
  });

  it('counts failed tests, and suites that failed outside of their tests, with their messages as jest reports them', () => {
    const project = mkdtempSync(join(folder.path, 'project-'));
    const files = {
      'package.json': '{}',
      'fine.test.js': `it('adds', () => {}); it('multiplies', () => {});`,
      'wrong.test.js': `describe('sums', () => { it('add up', () => { expect(1 + 1).toBe(3); }); });`,
      'broken.test.js': `require('./nowhere');`,
      'untidy.test.js': `afterAll(() => { throw new Error('left open'); }); it('works', () => {});`,
    };
    for (const [name, code] of Object.entries(files)) writeFileSync(join(project, name), code);
    const options = ['--json', '--outputFile=report.json', '--rootDir', project];
    spawnSync(process.execPath, [require.resolve('jest/bin/jest'), ...options], { cwd: project });
    const bad = readFileSync(join(project, 'report.json'), 'utf8');

    const { lines, end } = summarize({ tests: [1, bad], browser: [0, good] });
    const text = lines.join('\n');
    expect(text).toMatch(/✕ .*wrong\.test\.js › sums add up\n.*expect\(received\)\.toBe\(expected\)/);
    expect(text).toMatch(/✕ .*broken\.test\.js\n[^✕]*Cannot find module/);
    expect(text).toMatch(/✕ .*untidy\.test\.js\n[^✕]*left open/);
    expect(end).toEqual(['6 passed, 3 failed', 1]);
  });

  it.each<[string, Steps[string], string]>([
    ['without a report', [137], '✕ tests: it ended with exit code 137 and without a report'],
    ['with half a report', [1, '{"numPassed'], '✕ tests: it ended with exit code 1 and without a report'],
    ['although no test failed', [124, good], '✕ tests: no test failed, but its exit code is 124'],
    ['without a test', [0, good.replace('3', '0')], '✕ tests: not one test was run'],
  ])('counts a suite that ended %s', (_, tests, words) => {
    const { lines, end } = summarize({ tests, browser: [0, good] });
    expect(lines).toContain(words);
    expect(end[1]).toBe(1);
    expect(summarize({ tests: [0, good] }).lines).toContain('✕ browser: it was never run');
  });
});
