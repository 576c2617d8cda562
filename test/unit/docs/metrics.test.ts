import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Metric, metrics } from '../../../src/contract/metrics';

const suffixes = { counter: '_total', histogram: '_seconds', gauge: '' };

describe('docs/reference/metrics.md', () => {
  it('lists every metric with its kind, its labels and its meaning', () => {
    const text = readFileSync(join(__dirname, '../../../docs/reference/metrics.md'), 'utf8');
    const listed = [...text.matchAll(/^\| `(longhaul_\w+)` *\| (\w+) *\| ([^|]*)\| (.*?) *\|$/gm)].map(
      ([, name, kind, labels = '', help]) => ({
        name,
        kind,
        labels: [...labels.matchAll(/`(\w+)`/g)].map(([, one]) => one),
        help,
      }),
    );
    const known = Object.values<Metric>(metrics).map(({ name, kind, labels, help }) => {
      return { name: `${name}${suffixes[kind]}`, kind, labels, help };
    });

    expect(listed).toEqual(known);
  });
});
