import { readdirSync, readFileSync } from 'node:fs';
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

/** The rules, so far as they matter to the table. */
interface Rules {
  readonly forbidden: readonly {
    readonly from: { readonly path?: unknown };
    readonly to: { readonly pathNot?: readonly string[] };
  }[];
}

const codeFolders = ['src', 'reference-service', 'tools', 'test', 'examples', 'bench', 'report-page'];
const checkout = new PlantedCheckout();
let report: Report;

beforeAll(async () => {
  checkout.plant(Object.fromEntries(landings.map((path) => [path, 'export const landing = 1;'])));
  checkout.plant(Object.fromEntries(breaches.map(([, path, code]) => [path, code])));
  checkout.plant(legitimate);
  const args = ['--config', '.dependency-cruiser.js', '--output-type', 'json', ...codeFolders];
  report = (await checkout.run('dependency-cruiser', 'depcruise', args)) as Report;
});
afterAll(() => {
  checkout.remove();
});

describe('the rules of who may import whom', () => {
  it.each(breaches)('%s catches %s', (rule, path) => {
    expect(rulesBrokenBy(path)).toContain(rule);
  });

  it.each(Object.keys(legitimate))('let %s pass', (path) => {
    expect(report.modules.map(({ source }) => source)).toContain(path);
    expect(rulesBrokenBy(path)).toEqual([]);
  });

  it('are each broken by a planted import, so that none is there without an effect', () => {
    const rules = report.summary.ruleSetUsed.forbidden.map(({ name }) => name);
    expect([...new Set(breaches.map(([rule]) => rule))].sort()).toEqual(rules.sort());
  });
});

it('the table of ARCHITECTURE.md says of every folder of src what it may import, as the rules do', () => {
  const folders = readdirSync(join(projectRoot, 'src'), { withFileTypes: true }).filter((one) => one.isDirectory());
  expect(allowedByTable()).toEqual(allowedByRules());
  expect(Object.keys(allowedByTable()).sort()).toEqual(folders.map(({ name }) => name).sort());
});

/** The folders of src that each may import; of what stands behind a semicolon it imports a part. */
function allowedByTable(): Record<string, readonly string[]> {
  const text = readFileSync(join(projectRoot, 'ARCHITECTURE.md'), 'utf8');
  const rows = [...text.matchAll(/^\| `src\/(\w+)` +\|[^|]*\|([^|;]*)[^|]*\|$/gm)];
  return Object.fromEntries(
    rows.map(([, folder = '', allowed = '']) => [
      folder,
      [...allowed.matchAll(/`(\w+)`/g)].map(([, name = '']) => name).sort(),
    ]),
  );
}

/** Of the rules that name all that a folder may import. */
function allowedByRules(): Record<string, readonly string[]> {
  const foldersOf = (pattern: string): string[] => /^\^src\/\(([\w|]+)\)\/$/.exec(pattern)?.[1]?.split('|') ?? [];
  const entries = jest.requireActual<Rules>('../../../.dependency-cruiser.js').forbidden.flatMap(({ from, to }) => {
    const [folder, ...others] = typeof from.path === 'string' ? foldersOf(from.path) : [];
    const [self, ...allowed] = to.pathNot ?? [];
    if (folder === undefined || others.length > 0 || self !== from.path) return [];
    return [[folder, allowed.flatMap(foldersOf).sort()] as const];
  });
  return Object.fromEntries(entries);
}

function rulesBrokenBy(path: string): string[] {
  return report.summary.violations
    .filter(({ from, cycle = [] }) => from === path || cycle.some(({ name }) => name === path))
    .map(({ rule }) => rule.name);
}
