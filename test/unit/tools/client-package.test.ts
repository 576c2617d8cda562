import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { build as esbuild } from 'esbuild';
import { buildClientPackage } from '../../../tools/client-package';
import { temporaryFolder } from '../../support/temporary-folder';

const root = join(__dirname, '../../..');
const folder = temporaryFolder();
afterAll(folder.remove);

const versions = { undici: '7.30.2', zod: '4.6.7' };
const ownManifest = { version: '1.2.3', dependencies: versions };
const clientManifest = { version: '1.2.3', dependencies: { undici: '^7.30.2' }, devDependencies: { zod: '4.6.7' } };
const sources = {
  'src/index.ts': `export { start } from './start';`,
  'src/start.ts': `import * as z from 'zod'; export const start = (name: string): string => z.string().parse(name);`,
  'src/files.ts': `export const open = (): void => undefined;`,
  'src/row-files.ts': `export const rows = (): void => undefined;`,
  'src/operator.ts': `import { start } from './index'; export const operate = start;`,
  'src/testing.ts': `export const fake = (): void => undefined;`,
  'src/states.ts': `export const states = [];`,
  'src/worker.ts': `import { Worker } from '@temporalio/worker'; export const worker = Worker;`,
  'src/service/index.ts': `export { request } from 'undici';`,
  'src/config/config-error.ts': `export class ConfigError extends Error {}`,
};
const page = '# Page\n\n[Here](../reference/library.md#use) and [elsewhere](../decisions/0001.md).\n';
const pages = [
  ...['backend', 'testing', 'webhooks'].map((name) => `docs/guides/${name}.md`),
  ...['configuration', 'errors', 'library', 'rows', 'service-library'].map((name) => `docs/reference/${name}.md`),
];
/** As TypeScript would declare the sources. */
const declarations = {
  'index.d.ts': `export { start } from './start';`,
  'start.d.ts': `import * as z from 'zod';\nexport declare const schema: z.ZodString;\n/** Starts. */\nexport declare function start(name: Name): string;\ntype Name = string;`,
  'files.d.ts': `export declare const open: () => void;`,
  'row-files.d.ts': `export declare const rows: () => void;`,
  'operator.d.ts': `export declare const operate: () => void;`,
  'testing.d.ts': `export declare const fake: () => void;`,
  'states.d.ts': `export declare const states: string[];`,
  'service/index.d.ts': `export { request } from 'undici';`,
};

let count = 0;

/** Builds the package of a checkout that differs from a good one in these files; its path. */
async function build(changes: Readonly<Record<string, string>> = {}): Promise<string> {
  const checkout = join(folder.path, String((count += 1)));
  const files: Record<string, string> = {
    ...sources,
    ...Object.fromEntries(Object.entries(declarations).map(([path, text]) => [`declarations/${path}`, text])),
    'package.json': JSON.stringify(ownManifest),
    'packages/client/package.json': JSON.stringify(clientManifest),
    'tsconfig.json': '{}',
    ...Object.fromEntries(pages.map((path) => [path, page])),
    LICENSE: 'The licence of the checkout',
    ...changes,
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(checkout, path)), { recursive: true });
    writeFileSync(join(checkout, path), text);
  }
  symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'));
  await buildClientPackage(checkout, join(checkout, 'declarations'));
  return join(checkout, 'packages/client');
}

const loadModule = (path: string) => createRequire(path)(path) as Readonly<Record<string, unknown>>;

describe('the package of the client', () => {
  it('has what its entries reach and nothing else, with the licences of what is inlined', async () => {
    const client = await build();
    const read = (path: string): string => readFileSync(join(client, path), 'utf8');

    expect(read('lib/index.js')).toContain('ZodString');
    expect(read('lib/index.js')).not.toContain('temporalio');
    expect(read('lib/service/index.js')).toContain('require("undici")');
    expect(read('lib/third-party-licences.txt')).toMatch(/^zod 4\.6\.7\n\nMIT License$/m);
    expect(read('LICENSE')).toBe('The licence of the checkout');
    expect(read('lib/docs/guides/backend.md')).toContain('[Here](../reference/library.md#use) and elsewhere.');
  });

  it('can be bundled where an optional peer is not installed', async () => {
    const client = await build({
      'packages/client/package.json': JSON.stringify({ ...clientManifest, peerDependencies: { missing: '^1.0.0' } }),
      'package.json': JSON.stringify({ ...ownManifest, dependencies: { ...versions, missing: '1.0.0' } }),
      'src/files.ts': `export const open = () => import('./optional');`,
      'src/optional.ts': `export { value } from 'missing';`,
    });
    const bundled = await esbuild({
      entryPoints: [join(client, 'lib/files.js')],
      bundle: true,
      write: false,
      platform: 'node',
      logLevel: 'silent',
    });
    expect(bundled.outputFiles[0]?.text).toContain('require("missing")');
  });

  it('has one class of an error that several of its entries throw, by its own name', async () => {
    const exporting = `export { ConfigError } from './config/config-error';`;
    const refused = `export class Refused extends Error { static of(): Refused { return new Refused('no'); } }`;
    const client = await build({
      'src/index.ts': `${sources['src/index.ts']}\n${exporting}\n${refused}`,
      'src/files.ts': `${sources['src/files.ts']}\n${exporting}`,
    });
    const [main, files] = ['index', 'files'].map((entry) => loadModule(join(client, 'lib', `${entry}.js`)));

    expect(main?.['ConfigError']).toBeInstanceOf(Function);
    expect(files?.['ConfigError']).toBe(main?.['ConfigError']);
    expect(main?.['Refused']).toHaveProperty('name', 'Refused');
  });

  it('declares what its entries export, without the types of what is inlined', async () => {
    const text = readFileSync(join(await build(), 'lib/start.d.ts'), 'utf8');

    expect(text).toContain('/** Starts. */\nexport declare function start(name: Name): string;\ntype Name = string;');
    expect(text).not.toMatch(/zod|schema/);
  });

  it.each([
    [
      'imports what is not named',
      { 'src/start.ts': `import 'zod'; export { Worker as start } from '@temporalio/worker';` },
      'It imports @temporalio/worker; add it to dependencies.',
    ],
    [
      'names what nothing imports',
      { 'src/start.ts': `export const start = 1;` },
      'Nothing inlines zod; remove it from devDependencies.',
    ],
    [
      'would be installed with what nothing imports',
      { 'src/service/index.ts': `export const request = 1;` },
      'Nothing imports undici; remove it from dependencies.',
    ],
    [
      'has a type of what is inlined',
      { 'declarations/start.d.ts': `import * as z from 'zod';\nexport declare const start: z.ZodString;` },
      'The types in start.d.ts need zod; give them none of its types.',
    ],
    [
      'is of another version',
      { 'packages/client/package.json': JSON.stringify({ ...clientManifest, version: '1.2.2' }) },
      'The version is 1.2.2; say 1.2.3, as package.json of the checkout.',
    ],
    [
      'was tested with another version of what it imports',
      { 'packages/client/package.json': JSON.stringify({ ...clientManifest, dependencies: { undici: '^6.0.0' } }) },
      'undici is ^6.0.0; say ^7.30.2, as package.json of the checkout.',
    ],
  ])('is refused when it %s', async (_, changes, problem) => {
    await expect(build(changes)).rejects.toThrow(problem);
  });
});
