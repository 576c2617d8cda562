import { relative } from 'node:path';
import { PlantedCheckout } from './planted-checkout';

/** What the tests need of eslint's report. */
type Report = readonly {
  readonly filePath: string;
  readonly messages: readonly { readonly ruleId: string | null }[];
}[];

/** One breach a file: its code by its path, under the rule that must catch it. */
const breaches: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'no-restricted-syntax': {
    'src/service/environment.ts': `export const home = process.env['HOME'];`,
    'src/service/environment-in-parts.ts': `const { env } = process; export const home = env['HOME'];`,
    'src/core/clock.ts': `export const now = (): number => Date.now();`,
    'src/core/chance.ts': `export const chance = (): number => Math.random();`,
    'src/core/timer.ts': `export const soon = (then: () => void): unknown => setTimeout(then, 1);`,
    'src/activities/now.ts': `export const now = (): number => Date.now();`,
    'src/activities/now-in-parts.ts': `const { now } = Date; export const nowMs = (): number => now();`,
    'src/workflows/counter.ts': `export let count = 0; export const next = (): number => (count += 1);`,
    'src/contract/known.ts': `const known = new Set<string>(); export const isKnown = (id: string): boolean => known.has(id);`,
    'src/workflows/static.ts': `export class Numbered { static last = 0; readonly number = (Numbered.last += 1); }`,
    'src/client/double-assertion.ts': `export const seven = '7' as unknown as number;`,
    'src/service/silenced.ts': `// eslint-disable-next-line\nexport const home = process.env['HOME'];`,
  },
  'no-restricted-imports': {
    'src/workflows/builtin.ts': `import { hostname } from 'node:os'; export const name = hostname();`,
  },
  'regexp/no-super-linear-backtracking': {
    'src/core/backtracking.ts': `export const password = /:\\/\\/[^\\s@]*:[^\\s]*@/;`,
  },
  'regexp/no-super-linear-move': {
    'src/worker/move.ts': `export const quotation = /\\\\*"field/;`,
  },
  'no-restricted-exports': { 'src/client/default.ts': `export default 1;` },
  'max-lines': { 'src/client/long.ts': Array.from({ length: 301 }, (_, n) => `export const c${n} = ${n};`).join('\n') },
  '@typescript-eslint/no-explicit-any': { 'src/client/any.ts': `export const anything = (value: any): any => value;` },
  '@typescript-eslint/no-floating-promises': {
    'src/client/floating.ts': `export function forget(work: () => Promise<void>): void { work(); }`,
  },
  '@typescript-eslint/consistent-type-imports': {
    'src/client/type-import.ts': `import { Client } from '@temporalio/client'; export type Mine = Client;`,
  },
  '@typescript-eslint/only-throw-error': {
    'src/client/throw.ts': `export function fail(): never { throw 'words'; }`,
  },
  'jest/no-restricted-jest-methods': { 'test/unit/mock.test.ts': `jest.mock('node:fs');` },
  'jest/no-focused-tests': { 'test/unit/focused.test.ts': `it.only('is', () => { expect(1).toBe(1); });` },
  'jest/no-disabled-tests': { 'test/unit/skipped.test.ts': `it.skip('is', () => { expect(1).toBe(1); });` },
  'jest/expect-expect': { 'test/unit/empty.test.ts': `it('asserts nothing', () => { String(1); });` },
};

/** Where the same code is right. */
const legitimate: Readonly<Record<string, string>> = {
  'src/config/environment.ts': `export const home = process.env['HOME'];`,
  'src/cli.ts': `export const home = process.env['HOME'];`,
  'src/core/table.ts': `export const sizes: ReadonlyMap<string, number> = new Map([['a', 1]]);`,
  'src/activities/moment.ts': `export const moment = (ms: number): string => new Date(ms).toISOString();`,
  'src/workflows/clock.ts': `export const now = (): number => Date.now();`,
  'test/unit/fine.test.ts': `it('is', () => { expect(Math.random()).toBeLessThan(1); });`,
};

const checkout = new PlantedCheckout();
let report: Report;

beforeAll(async () => {
  for (const files of [...Object.values(breaches), legitimate]) checkout.plant(files);
  report = (await checkout.run('eslint', 'eslint', ['.', '--format', 'json'])) as Report;
});
afterAll(() => {
  checkout.remove();
});

describe('the rules of how code is written', () => {
  const planted = Object.entries(breaches).flatMap(([rule, files]) =>
    Object.keys(files).map((path) => ({ rule, path })),
  );
  it.each(planted)('catch $path by $rule', ({ rule, path }) => {
    expect(rulesBrokenBy(path)).toContain(rule);
  });

  it.each(Object.keys(legitimate))('let %s pass', (path) => {
    expect(rulesBrokenBy(path)).toEqual([]);
  });
});

function rulesBrokenBy(path: string): (string | null)[] {
  const file = report.find(({ filePath }) => relative(checkout.path, filePath) === path);
  if (file === undefined) throw new Error(`eslint did not look at ${path}`);
  return file.messages.map(({ ruleId }) => ruleId);
}
