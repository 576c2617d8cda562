import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../support/temporary-folder';

const root = join(__dirname, '../../..');
const report = { numPassedTests: 3, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0, testResults: [] };

/**
 * Stands for npm: does what the environment says for each of the steps, and records that it was called. A suite writes
 * its report where jest would.
 */
const standIn = `#!/usr/bin/env bash
cat
echo "$*" >>calls
key=$(tr -c 'a-z\\n' '_' <<<"$*" | cut -c1-8)
for argument in "$@"; do
  case $argument in --outputFile=*) echo '${JSON.stringify(report)}' >"\${argument#*=}" ;; esac
done
eval "\${!key-:}"
`;

const folder = temporaryFolder();
afterAll(folder.remove);

interface Run {
  readonly status: number | null;
  readonly lines: readonly string[];
  readonly calls: readonly string[];
}

function runCi(name: string, env: NodeJS.ProcessEnv = {}): Run {
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

describe('.ci/run', () => {
  it('installs, runs every check and the tests, builds, and closes with the count of the tests', () => {
    const { status, lines, calls } = runCi('good');

    expect(calls.map((call) => call.replace(/ -- .*/, ''))).toEqual([
      'ci',
      ...['typecheck', 'lint', 'format:check', 'deps:check', 'unused'].map((script) => `run ${script}`),
      'test',
      'run test:system',
      'run test:browser',
      'run test:topology',
      'run test:packages',
      'run test:languages',
      'run build',
    ]);
    expect(lines.filter((line) => /^-- .*: exit code 0 after \d+ s$/.test(line))).toHaveLength(14);
    expect(lines).not.toContain('nobody reads this');
    expect(lines.at(-1)).toBe('18 passed, 0 failed');
    expect(status).toBe(0);
  });

  it('goes on after a failure, counts it and fails in the end', () => {
    const { status, lines, calls } = runCi('failing', { run_lint: 'echo "a lint error"; exit 2' });

    expect(calls).toContain('run build');
    expect(lines).toContain('a lint error');
    expect(lines.join('\n')).toMatch(/^-- lint: exit code 2 after \d+ s$/m);
    expect(lines.at(-1)).toBe('18 passed, 1 failed');
    expect(status).toBe(1);
  });

  it('shows the beginning of a long output, and the end of it only when the step failed', () => {
    const long = runCi('long', {
      run_lint: 'seq -f "line %.0f" 1 5000',
      run_unus: 'seq -f "unused %.0f" 1 5000; exit 1',
    });

    expect(long.lines).toEqual(expect.arrayContaining(['line 1', 'line 400', 'unused 1', 'unused 400', 'unused 5000']));
    expect(long.lines).not.toContain('line 401');
    expect(long.lines).not.toContain('line 5000');
    expect(long.lines.length).toBeLessThan(1_100);
  });

  it('is not held up by a process that a step leaves behind', () => {
    const { status, lines } = runCi('orphan', { run_lint: 'touch wanted; while [ -e wanted ]; do sleep 0.2; done &' });

    rmSync(join(folder.path, 'orphan/wanted'));
    expect(lines.at(-1)).toBe('18 passed, 0 failed');
    expect(status).toBe(0);
  });
});
