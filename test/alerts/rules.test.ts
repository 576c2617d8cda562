import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { findPromtool } from '../../tools/find-debian-program';
import { temporaryFolder } from '../support/temporary-folder';
import { drills, usualMin } from './drills';
import { promtoolTest } from './promtool-test';

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

  const rulesFile = join(deploy, 'prometheus/longhaul.rules.yml');
  const drillAll = (course: Parameters<typeof promtoolTest>[1], of = drills, rules = rulesFile) => {
    const file = join(folder.path, 'drills.yml');
    const tests = of.map((drill) => promtoolTest(drill, course));
    writeFileSync(file, stringify({ rule_files: [rules], evaluation_interval: '15s', tests }));
    return run('test', 'rules', file);
  };

  it.each([
    ['fire within minutes of their trouble, and no others, and end with it', 'goes by'],
    ['say for as long as no target is there that no worker polls', 'vanish'],
    ['go on when other processes come', 'replaced'],
  ] as const)('%s', (_, course) => {
    const lasting = drills.filter(({ lastsMin = usualMin }) => course !== 'replaced' || lastsMin >= usualMin);
    expect(drillAll(course, lasting)).toMatchObject({
      status: 0,
      output: expect.stringContaining('SUCCESS') as string,
    });
  });

  it('are each of a drill', () => {
    const { groups } = parse(readFileSync(rulesFile, 'utf8')) as { groups: { rules: Rule[] }[] };
    const all = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
    expect([...new Set(drills.flatMap(({ alerts }) => alerts))].sort()).toEqual(all.sort());
  });

  it('are found to be wrong when one of them fires too late', () => {
    const slow = join(folder.path, 'slow.yml');
    writeFileSync(slow, readFileSync(rulesFile, 'utf8').replaceAll('for: 1m', 'for: 10m'));
    const late = drills.filter(({ alerts }) => alerts.includes('LonghaulCreatesRefused'));
    const { status, output } = drillAll('goes by', late, slow);
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
