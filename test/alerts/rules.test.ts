import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { findPromtool } from '../../tools/find-debian-program';
import { temporaryFolder } from '../support/temporary-folder';

const deploy = join(__dirname, '../../deploy');
/** In CI, it may have to be installed first. */
const startUpMs = 600_000;

interface Rule {
  readonly alert: string;
  readonly annotations: Readonly<Record<string, string>>;
}

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

describe('the scrape configuration for Kubernetes', () => {
  it('is one that Prometheus takes', () => {
    const text = readFileSync(join(deploy, 'prometheus/kubernetes.yml'), 'utf8');
    const config = parse(text) as { scrape_configs: Record<string, unknown>[] };
    const file = join(folder.path, 'kubernetes.yml');
    // Debian builds promtool without the discovery of Kubernetes.
    const scrape_configs = config.scrape_configs.map(({ kubernetes_sd_configs: discovery, ...rest }) => {
      expect(discovery).toEqual([{ role: 'pod', namespaces: { names: ['longhaul'] } }]);
      return rest;
    });
    writeFileSync(file, stringify({ ...config, scrape_configs }));
    expect(run('check', 'config', '--syntax-only', file)).toMatchObject({ status: 0 });
  });
});

describe('the PrometheusRule that docs/guides/alerts.md makes of the alerts', () => {
  it('has rules that Prometheus takes, each with a link to its runbook', () => {
    const page = readFileSync(join(deploy, '../docs/guides/alerts.md'), 'utf8');
    const [, command = ''] = /```sh\n([^`]*PrometheusRule[^`]*)\| kubectl apply/.exec(page) ?? [];
    const { stdout } = spawnSync('sh', ['-c', command], { cwd: join(deploy, '..'), encoding: 'utf8' });
    const { kind, spec } = parse(stdout) as { kind: string; spec: { groups: { rules: Rule[] }[] } };
    const rules = spec.groups.flatMap((group) => group.rules);

    expect(kind).toBe('PrometheusRule');
    expect(rules.length).toBeGreaterThan(10);
    for (const { alert, annotations } of rules) {
      const anchor = alert.toLowerCase();
      expect(annotations['runbook_url']).toBe(`https://git.example/longhaul/blob/main/docs/guides/alerts.md#${anchor}`);
      expect(annotations['runbook']).toBeUndefined();
    }
    const file = join(folder.path, 'prometheus-rule.yml');
    writeFileSync(file, stringify(spec));
    expect(run('check', 'rules', file)).toMatchObject({ status: 0 });
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
