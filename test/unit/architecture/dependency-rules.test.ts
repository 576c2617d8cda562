import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PlantedCheckout, projectRoot } from './planted-checkout';
import { breaches, landings, legitimate } from './planted-imports';

/** What the tests need of dependency-cruiser's report. */
interface Report {
  readonly modules: readonly { readonly source: string }[];
  readonly summary: {
    readonly violations: readonly {
      readonly from: string;
      readonly cycle?: readonly { readonly name: string }[];
      readonly rule: { readonly name: string };
    }[];
    readonly ruleSetUsed: { readonly forbidden: readonly { readonly name: string }[] };
  };
}

const codeFolders = ['src', 'reference-service', 'tools', 'test', 'examples', 'bench'];
const checkout = new PlantedCheckout();
let report: Report;

beforeAll(async () => {
  checkout.plant(Object.fromEntries(landings.map((path) => [path, 'export const landing = 1;'])));
  for (const files of [...Object.values(breaches), legitimate]) checkout.plant(files);
  const args = ['--config', '.dependency-cruiser.js', '--output-type', 'json', ...codeFolders];
  report = (await checkout.run('dependency-cruiser', 'depcruise', args)) as Report;
});
afterAll(() => {
  checkout.remove();
});

describe('the rules of who may import whom', () => {
  const planted = Object.entries(breaches).flatMap(([rule, files]) =>
    Object.keys(files).map((path) => ({ rule, path })),
  );
  it.each(planted)('catch $path as $rule', ({ rule, path }) => {
    expect(rulesBrokenBy(path)).toContain(rule);
  });

  it.each(Object.keys(legitimate))('let %s pass', (path) => {
    expect(report.modules.map(({ source }) => source)).toContain(path);
    expect(rulesBrokenBy(path)).toEqual([]);
  });

  it('are each broken by a planted import, so that none is there without an effect', () => {
    const rules = report.summary.ruleSetUsed.forbidden.map(({ name }) => name);
    expect(Object.keys(breaches).sort()).toEqual(rules.sort());
  });

  it('are checked in every folder of code', () => {
    const { scripts } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    expect(scripts['deps:check']?.split(' ')).toEqual(expect.arrayContaining(codeFolders));
  });
});

function rulesBrokenBy(path: string): string[] {
  return report.summary.violations
    .filter(({ from, cycle = [] }) => from === path || cycle.some(({ name }) => name === path))
    .map(({ rule }) => rule.name);
}
