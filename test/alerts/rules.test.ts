import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { findPromtool } from '../../tools/find-debian-program';
import { temporaryFolder } from '../support/temporary-folder';

const deploy = join(__dirname, '../../deploy');
/** In CI, it may have to be installed first. */
const startUpMs = 600_000;

let promtool: string;
const folder = temporaryFolder();
beforeAll(async () => {
  promtool = await findPromtool();
}, startUpMs);
afterAll(folder.remove);

function run(...args: string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(promtool, args, { cwd: join(deploy, 'prometheus'), encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

describe('the alerts', () => {
  it('are rules that Prometheus takes', () => {
    expect(run('check', 'rules', 'longhaul.rules.yml')).toMatchObject({ status: 0 });
  });

  it('fire over the series that they are made for, and over no others', () => {
    expect(run('test', 'rules', 'longhaul.test.yml')).toMatchObject({ status: 0 });
  });

  it('are found to be wrong when one of them fires too late', () => {
    const rules = readFileSync(join(deploy, 'prometheus/longhaul.rules.yml'), 'utf8');
    const tests = readFileSync(join(deploy, 'prometheus/longhaul.test.yml'), 'utf8');
    writeFileSync(join(folder.path, 'longhaul.rules.yml'), rules.replace('for: 10m', 'for: 10h'));
    writeFileSync(join(folder.path, 'longhaul.test.yml'), tests);
    const { status, output } = run('test', 'rules', join(folder.path, 'longhaul.test.yml'));
    expect(output).toContain('LonghaulCreatesRefused');
    expect(status).toBe(1);
  });
});

describe('the dashboard', () => {
  it('asks what Prometheus can answer', () => {
    const { panels } = JSON.parse(readFileSync(join(deploy, 'grafana/longhaul.json'), 'utf8')) as {
      panels: { targets?: { expr: string }[] }[];
    };
    const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    const rules = queries.map((expr, index) => ({
      record: `panel:${index}`,
      expr: expr.replaceAll('$__rate_interval', '5m'),
    }));
    const file = join(folder.path, 'panels.yml');
    writeFileSync(file, stringify({ groups: [{ name: 'panels', rules }] }));
    expect(run('check', 'rules', file)).toMatchObject({ status: 0 });
    expect(queries.length).toBeGreaterThan(20);
  });
});
