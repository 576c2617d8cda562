import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { type Metric, metrics } from '../../../src/contract/metrics';
import { manifestsIn } from './manifests';

const root = join(__dirname, '../../..');
const page = readFileSync(join(root, 'docs/guides/alerts.md'), 'utf8');

const rulesFile = z.strictObject({
  groups: z.array(
    z.strictObject({
      name: z.string(),
      rules: z.array(
        z.strictObject({
          alert: z.string(),
          expr: z.string(),
          for: z.string().optional(),
          labels: z.strictObject({ severity: z.enum(['page', 'ticket']) }),
          annotations: z.strictObject({ summary: z.string(), runbook: z.string() }),
        }),
      ),
    }),
  ),
});
const alerts = rulesFile
  .parse(parse(readFileSync(join(root, 'deploy/prometheus/longhaul.rules.yml'), 'utf8')))
  .groups.flatMap(({ rules }) => rules);

/** The jobs that the alerts look for. */
const jobs = new Set(alerts.flatMap(({ expr }) => [...expr.matchAll(/job="([^"]*)"/g)].map(([, job]) => job)));
const manifest = (name: string): unknown => parse(readFileSync(join(root, 'deploy', name), 'utf8'));
const podMonitor = z
  .strictObject({
    apiVersion: z.literal('monitoring.coreos.com/v1'),
    kind: z.literal('PodMonitor'),
    metadata: z.strictObject({ name: z.string() }),
    spec: z.strictObject({
      selector: z.strictObject({
        matchExpressions: z.tuple([
          z.strictObject({
            key: z.literal('app.kubernetes.io/name'),
            operator: z.literal('In'),
            values: z.array(z.string()),
          }),
        ]),
      }),
      podMetricsEndpoints: z.tuple([
        z.strictObject({
          port: z.string(),
          relabelings: z.tuple([
            z.strictObject({ action: z.literal('replace'), targetLabel: z.literal('job'), replacement: z.string() }),
          ]),
        }),
      ]),
    }),
  })
  .parse(manifest('kubernetes/pod-monitor/pod-monitor.yaml')).spec;
/** The workers and receivers of the manifests, by their label; each has a port with metrics. */
const measuredPods = ['worker', 'receiver'].flatMap((name) =>
  manifestsIn(readFileSync(join(root, `deploy/kubernetes/base/${name}.yaml`), 'utf8')).flatMap(({ spec }) => {
    const ports = (spec.template?.spec.containers ?? []).flatMap((container) => container.ports ?? []);
    const label = spec.template?.metadata.labels['app.kubernetes.io/name'];
    return label === undefined ? [] : [{ label, ports: ports.map((port) => port.name) }];
  }),
);

const source = z.strictObject({ type: z.literal('prometheus'), uid: z.literal('${datasource}') });
const place = z.strictObject({ h: z.int().min(1), w: z.int().min(1), x: z.int().min(0), y: z.int().min(0) });
const rowPanel = z.strictObject({
  ...{ id: z.int(), type: z.literal('row'), title: z.string(), collapsed: z.literal(false), gridPos: place },
  panels: z.tuple([]),
});
const dataPanel = z.strictObject({
  ...{ id: z.int(), type: z.enum(['stat', 'timeseries']), title: z.string(), description: z.string() },
  ...{ datasource: source, gridPos: place, options: z.record(z.string(), z.unknown()) },
  fieldConfig: z.strictObject({
    defaults: z.strictObject({
      unit: z.enum(['none', 's', 'Bps', 'cps', 'cpm']),
      min: z.literal(0).optional(),
      thresholds: z.unknown().optional(),
    }),
    overrides: z.tuple([]),
  }),
  targets: z
    .array(z.strictObject({ refId: z.string(), datasource: source, expr: z.string(), legendFormat: z.string() }))
    .min(1),
});
/** What Grafana requires of a dashboard, as far as this one uses it (its schema 39). */
const dashboard = z
  .strictObject({
    ...{ title: z.string(), uid: z.string().max(40), description: z.string(), tags: z.array(z.string()) },
    ...{ schemaVersion: z.literal(39), version: z.int(), editable: z.boolean(), graphTooltip: z.literal([0, 1, 2]) },
    ...{ refresh: z.string(), timezone: z.string(), time: z.strictObject({ from: z.string(), to: z.string() }) },
    ...{ annotations: z.strictObject({ list: z.tuple([]) }), links: z.tuple([]) },
    templating: z.strictObject({
      list: z.tuple([
        z.looseObject({ name: z.literal('datasource'), type: z.literal('datasource'), query: z.literal('prometheus') }),
      ]),
    }),
    panels: z.array(z.discriminatedUnion('type', [rowPanel, dataPanel])),
  })
  .parse(JSON.parse(readFileSync(join(root, 'deploy/grafana/longhaul.json'), 'utf8')));
const dataPanels = dashboard.panels.filter((panel) => panel.type !== 'row');
const panelQueries = dataPanels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const));

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

describe('every metric exists, in the catalogue or in the installed SDK,', () => {
  it.each(alerts.map(({ alert, expr }) => [alert, expr] as const))('of the alert %s', (_alert, expr) => {
    expect(expr === 'up{job="longhaul"} == 0' ? ['up'] : namesIn(expr)).not.toEqual([]);
    expect(namesIn(expr).filter((name) => !isKnown(name))).toEqual([]);
  });

  it.each(panelQueries)('of the panel “%s”: %s', (_title, expr) => {
    expect(namesIn(expr)).not.toEqual([]);
    expect(namesIn(expr).filter((name) => !isKnown(name))).toEqual([]);
  });

  it('or is found to be missing', () => {
    expect(['longhaul_task_ends', 'temporal_nonsense_total', 'longhaul_nonsense'].filter(isKnown)).toEqual([]);
  });

  it('and is looked at by an alert or the dashboard, if it is one of Longhaul’s', () => {
    const used = new Set([...alerts.map(({ expr }) => expr), ...panelQueries.map(([, expr]) => expr)].flatMap(namesIn));
    const unused = Object.values<Metric>(metrics).filter(
      ({ name, kind }) => !suffixes[kind].some((suffix) => used.has(`${name}${suffix}`)),
    );
    expect(unused.map(({ name }) => name)).toEqual([]);
  });
});

describe('every label of Longhaul’s metrics exists', () => {
  const all = [
    ...alerts.map(({ alert, expr }) => [alert, expr] as const),
    ...panelQueries.map(([title, expr]) => [title, expr] as const),
  ].filter(([, expr]) => expr.includes('longhaul_'));

  it.each(all)('of %s: %s', (_where, expr) => {
    const known = new Set(['instance', 'le', 'job', ...namesIn(expr).flatMap((name) => own.get(name)?.labels ?? [])]);
    const grouped = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/));
    const matched = [...expr.matchAll(/\{([^}]*)\}/g)].flatMap(([, list = '']) => list.match(/\w+(?=!?[=~])/g) ?? []);
    expect([...grouped, ...matched].filter((label) => !known.has(label))).toEqual([]);
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

  it('has series that make it fire, and series that do not', () => {
    const text = readFileSync(join(root, 'deploy/prometheus/longhaul.test.yml'), 'utf8');
    const { tests } = parse(text) as { tests: { alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }[] };
    const cases = tests.flatMap(({ alert_rule_test }) => alert_rule_test);
    const namesOf = (isFiring: boolean): string[] =>
      cases.filter(({ exp_alerts }) => exp_alerts.length > 0 === isFiring).map(({ alertname }) => alertname);
    const names = alerts.map(({ alert }) => alert).sort();
    expect([...new Set(namesOf(true))].sort()).toEqual(names);
    expect([...new Set(namesOf(false))].sort()).toEqual(names);
  });

  it('is one of the parts of docs/guides/alerts.md', () => {
    const parts = [...page.matchAll(/^## (.*)$/gm)].map(([, title]) => title);
    expect(parts).toEqual(alerts.map(({ alert }) => alert).sort((a, b) => parts.indexOf(a) - parts.indexOf(b)));
    expect(new Set(parts).size).toBe(parts.length);
  });
});

describe('Prometheus in Kubernetes', () => {
  const scrapeConfig = z
    .object({
      scrape_configs: z.tuple([
        z.object({
          job_name: z.string(),
          relabel_configs: z.array(z.object({ action: z.string().optional(), regex: z.string().optional() })),
        }),
      ]),
    })
    .parse(manifest('prometheus/kubernetes.yml')).scrape_configs[0];

  it('fetches every worker and receiver as the job that the alerts look for, by the PodMonitor', () => {
    const [{ port, relabelings }] = podMonitor.podMetricsEndpoints;
    expect(new Set(relabelings.map(({ replacement }) => replacement))).toEqual(jobs);
    expect(podMonitor.selector.matchExpressions[0].values).toEqual(measuredPods.map(({ label }) => label));
    for (const { ports } of measuredPods) expect(ports).toContain(port);
  });

  it('and by the scrape configuration', () => {
    expect(new Set([scrapeConfig.job_name])).toEqual(jobs);
    const keep = scrapeConfig.relabel_configs.find(({ action }) => action === 'keep')?.regex ?? '';
    const kept = measuredPods.flatMap(({ label, ports }) =>
      ports.filter((port) => new RegExp(`^(?:${keep})$`).test(`${label};${port}`)).map((port) => `${label} ${port}`),
    );
    expect(kept).toEqual(['longhaul-worker metrics', 'longhaul-receiver metrics']);
  });
});

describe('the dashboard', () => {
  it('has panels with ids of their own, that fit into its 24 columns and do not overlap', () => {
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
    const taken = new Set<string>();
    for (const { title, gridPos } of dashboard.panels) {
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
          expect(taken.has(`${x},${y}`) ? `${title} overlaps at ${x},${y}` : '').toBe('');
          taken.add(`${x},${y}`);
        }
      }
    }
  });
});
