import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { type Metric, metrics } from '../../../src/contract/metrics';
import { manifestsIn } from './manifests';

const root = join(__dirname, '../../..');
const page = readFileSync(join(root, 'docs/guides/alerts.md'), 'utf8');

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook: string };
}
const rules = parse(readFileSync(join(root, 'deploy/prometheus/longhaul.rules.yml'), 'utf8')) as {
  readonly groups: readonly { readonly rules: readonly Rule[] }[];
};
const alerts = rules.groups.flatMap((group) => group.rules);

/** The jobs that the alerts look for. */
const jobs = new Set(alerts.flatMap(({ expr }) => [...expr.matchAll(/job="([^"]*)"/g)].map(([, job]) => job)));
const manifest = (name: string): unknown => parse(readFileSync(join(root, 'deploy', name), 'utf8'));
interface PodMonitor {
  readonly spec: {
    readonly selector: { readonly matchExpressions: readonly [{ readonly values: readonly string[] }] };
    readonly podMetricsEndpoints: readonly [
      { readonly port: string; readonly relabelings: readonly { readonly replacement: string }[] },
    ];
  };
}
/** The workers and receivers of the manifests, by their label; each has a port with metrics. */
const measuredPods = ['worker', 'receiver'].flatMap((name) =>
  manifestsIn(readFileSync(join(root, `deploy/kubernetes/base/${name}.yaml`), 'utf8')).flatMap(({ spec }) => {
    const ports = (spec.template?.spec.containers ?? []).flatMap((container) => container.ports ?? []);
    const label = spec.template?.metadata.labels['app.kubernetes.io/name'];
    return label === undefined ? [] : [{ label, ports: ports.map((port) => port.name) }];
  }),
);

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[];
}
const dashboard = JSON.parse(readFileSync(join(root, 'deploy/grafana/longhaul.json'), 'utf8')) as Dashboard;
const queries = [
  ...alerts.map(({ alert, expr }) => [`alert ${alert}`, expr] as const),
  ...dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => [`panel “${title}”`, expr] as const),
  ),
];

const suffixes = {
  counter: ['_total'],
  histogram: ['_seconds_bucket', '_seconds_sum', '_seconds_count'],
  gauge: [''],
} as const;
const own = new Map(
  Object.values<Metric>(metrics).flatMap((metric) =>
    suffixes[metric.kind].map((suffix) => [`${metric.name}${suffix}`, metric] as const),
  ),
);
/** The installed SDK's native part holds the names of its metrics, without prefix and suffix. */
const releases = join(root, 'node_modules/@temporalio/core-bridge/releases');
const platform = readdirSync(releases).find((name) => name.includes(process.arch === 'arm64' ? 'aarch64' : 'x86_64'));
const native = readFileSync(join(releases, platform ?? '', 'index.node'), 'latin1');

function isKnown(name: string): boolean {
  if (name.startsWith('longhaul_')) return own.has(name);
  const base = name.replace(/^temporal_/, '').replace(/(_total|_seconds_(bucket|sum|count))$/, '');
  return native.includes(base);
}

const namesIn = (expr: string): string[] => expr.match(/\b(?:longhaul|temporal)_[a-z_]+/g) ?? [];

describe('every metric exists, in the catalogue or in the installed SDK, with its labels,', () => {
  it.each(queries)('of the %s: %s', (_where, expr) => {
    const names = namesIn(expr);
    expect(expr === 'up{job="longhaul"} == 0' ? ['up'] : names).not.toEqual([]);
    expect(names.filter((name) => !isKnown(name))).toEqual([]);
    if (!expr.includes('longhaul_')) return;
    const known = new Set([
      'instance',
      'le',
      'job',
      'failure_reason',
      ...names.flatMap((name) => own.get(name)?.labels ?? []),
    ]);
    const grouped = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/));
    const matched = [...expr.matchAll(/\{([^}]*)\}/g)].flatMap(([, list = '']) => list.match(/\w+(?=!?[=~])/g) ?? []);
    expect([...grouped, ...matched].filter((label) => !known.has(label))).toEqual([]);
  });

  it('or is found to be missing', () => {
    expect(['longhaul_task_ends', 'temporal_nonsense_total', 'longhaul_nonsense'].filter(isKnown)).toEqual([]);
  });

  it('and is looked at by an alert or the dashboard, if it is one of Longhaul’s', () => {
    const used = new Set(queries.flatMap(([, expr]) => namesIn(expr)));
    const unused = Object.values<Metric>(metrics).filter(
      ({ name, kind }) => !suffixes[kind].some((suffix) => used.has(`${name}${suffix}`)),
    );
    expect(unused.map(({ name }) => name)).toEqual([]);
  });
});

describe('every alert', () => {
  it.each(alerts)(
    '$alert has a part of docs/guides/alerts.md with what happened, the cost and the next step',
    (rule) => {
      expect(rule.annotations.runbook).toBe(`docs/guides/alerts.md#${rule.alert.toLowerCase()}`);
      const [, text = ''] = page.split(`\n## ${rule.alert}\n`);
      const [part = ''] = text.split('\n## ');
      expect([...part.matchAll(/^\*\*(.*?)\*\* \S/gm)].map(([, heading]) => heading)).toEqual([
        'What happened.',
        'Does it cost money?',
        'Next.',
      ]);
    },
  );

  it('is one of the parts of docs/guides/alerts.md', () => {
    const parts = [...page.matchAll(/^## (.*)$/gm)].map(([, title]) => title);
    expect(parts).toEqual(alerts.map(({ alert }) => alert).sort((a, b) => parts.indexOf(a) - parts.indexOf(b)));
    expect(new Set(parts).size).toBe(parts.length);
  });
});

describe('Prometheus in Kubernetes', () => {
  it('fetches every worker and receiver as the job that the alerts look for, by the PodMonitor', () => {
    const { selector, podMetricsEndpoints } = (manifest('kubernetes/pod-monitor/pod-monitor.yaml') as PodMonitor).spec;
    const [{ port, relabelings }] = podMetricsEndpoints;
    expect(new Set(relabelings.map(({ replacement }) => replacement))).toEqual(jobs);
    expect(selector.matchExpressions[0].values).toEqual(measuredPods.map(({ label }) => label));
    for (const { ports } of measuredPods) expect(ports).toContain(port);
  });

  it('and by the scrape configuration', () => {
    interface Scrape {
      readonly job_name: string;
      readonly relabel_configs: readonly { readonly action?: string; readonly regex?: string }[];
    }
    const config = manifest('prometheus/kubernetes.yml') as { readonly scrape_configs: readonly [Scrape] };
    const [{ job_name: job, relabel_configs: relabelings }] = config.scrape_configs;
    expect(new Set([job])).toEqual(jobs);
    const keep = relabelings.find(({ action }) => action === 'keep')?.regex ?? '';
    const kept = measuredPods.flatMap(({ label, ports }) =>
      ports.filter((port) => new RegExp(`^(?:${keep})$`).test(`${label};${port}`)).map((port) => `${label} ${port}`),
    );
    expect(kept).toEqual(['longhaul-worker metrics', 'longhaul-receiver metrics']);
  });
});
