import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { bundleModules, licencesOf } from './inlined-libraries';
import { publicDeclarations, publicEntries } from './public-declarations';

const versionsByName = z.record(z.string(), z.string()).default({});
const manifestSchema = z.object({
  version: z.string(),
  dependencies: versionsByName,
  peerDependencies: versionsByName,
  devDependencies: versionsByName,
});
type Manifest = z.infer<typeof manifestSchema>;

/** The folder of the client's package, below the checkout. */
const clientFolder = 'packages/client';
/** What a backend's author reads; below `docs`, here and in the package. */
const carriedPages = [
  'guides/backend.md',
  'guides/testing.md',
  'guides/webhooks.md',
  'reference/configuration.md',
  'reference/errors.md',
  'reference/library.md',
  'reference/rows.md',
  'reference/service-library.md',
];

/**
 * Fills `packages/client`: the modules of `src` that a backend reaches, in one file for each entry, the libraries that
 * its package.json names as `devDependencies` inlined, with their licences, the declarations and pages of the documentation.
 *
 * @param declarations - folder of what TypeScript declared of `src`.
 * @throws Error when the sources reach what its package.json does not name, or the other way round.
 */
export async function buildClientPackage(root: string, declarations: string): Promise<void> {
  const folder = join(root, clientFolder);
  const lib = join(folder, 'lib');
  const manifest = await readManifest(folder);
  await rm(lib, { recursive: true, force: true });
  const installed = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
  const inlined = Object.keys(manifest.devDependencies);
  const reached = await bundleModules({
    root,
    entries: {
      index: 'src/index',
      files: 'src/files',
      'row-files': 'src/row-files',
      'service/index': 'src/service/index',
      operator: 'src/operator',
      testing: 'src/testing',
      states: 'src/states',
      'config-error': 'src/config/config-error',
    },
    // Classes that two of them have must be one.
    shared: ['index', 'config-error'],
    folder: lib,
    installed,
    inlined,
  });
  const { files, packages } = publicDeclarations(declarations, publicEntries);
  const problems = [
    ...compareNames('imports', reached.installed, installed, 'dependencies'),
    ...compareNames('inlines', reached.inlined, inlined, 'devDependencies'),
    ...[...packages].flatMap(([name, path]) =>
      installed.includes(name) ? [] : [`The types in ${path} need ${name}; give them none of its types.`],
    ),
    ...compareVersions(manifest, await readManifest(root)),
  ];
  if (problems.length > 0) throw new Error([`${clientFolder}/package.json:`, ...problems].join('\n  '));
  for (const [path, text] of files) {
    await mkdir(dirname(join(lib, path)), { recursive: true });
    await writeFile(join(lib, path), text);
  }
  await guardOptional(lib, Object.keys(manifest.peerDependencies));
  await copyPages(join(root, 'docs'), join(lib, 'docs'));
  await writeFile(join(lib, 'third-party-licences.txt'), await licencesOf(reached.folders));
  await copyFile(join(root, 'LICENSE'), join(folder, 'LICENSE'));
}

/** A bundler takes for granted that what is required is there, unless a `try` is around it. */
async function guardOptional(lib: string, names: readonly string[]): Promise<void> {
  const modules = (await readdir(lib, { recursive: true })).filter((path) => path.endsWith('.js'));
  for (const path of modules) {
    let text = await readFile(join(lib, path), 'utf8');
    for (const name of names) {
      const call = `require("${name}")`;
      text = text.replaceAll(call, `(() => { try { return ${call}; } catch (error) { throw error; } })()`);
    }
    await writeFile(join(lib, path), text);
  }
}

/** With links among these pages; others become text. */
async function copyPages(docs: string, folder: string): Promise<void> {
  for (const page of carriedPages) {
    const text = await readFile(join(docs, page), 'utf8');
    const linked = text.replace(/\[([^\][\n]+)\]\(([^)\s]+)\)/g, (link, words: string, target: string) => {
      const [path = ''] = target.split('#');
      const isThere = path === '' || /^https?:/.test(path) || carriedPages.includes(join(dirname(page), path));
      return isThere ? link : words;
    });
    await mkdir(dirname(join(folder, page)), { recursive: true });
    await writeFile(join(folder, page), linked);
  }
}

async function readManifest(folder: string): Promise<Manifest> {
  return manifestSchema.parse(JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')));
}

function compareNames(verb: string, reached: ReadonlySet<string>, named: readonly string[], where: string): string[] {
  return [
    ...[...reached].filter((name) => !named.includes(name)).map((name) => `It ${verb} ${name}; add it to ${where}.`),
    ...named.filter((name) => !reached.has(name)).map((name) => `Nothing ${verb} ${name}; remove it from ${where}.`),
  ];
}

/**
 * What a backend installs may be of a later minor version, so that it shares Temporal's SDK with the backend; what is
 * inlined is what this checkout has.
 */
function compareVersions(client: Manifest, own: Manifest): string[] {
  const ownVersions = { ...own.devDependencies, ...own.dependencies };
  const expected = [
    ...Object.keys({ ...client.dependencies, ...client.peerDependencies }).map((name) => [name, '^'] as const),
    ...Object.keys(client.devDependencies).map((name) => [name, ''] as const),
  ];
  const given = { ...client.devDependencies, ...client.peerDependencies, ...client.dependencies };
  const differing = expected.flatMap(([name, range]) => {
    const wanted = `${range}${ownVersions[name] ?? ''}`;
    return given[name] === wanted
      ? []
      : [`${name} is ${given[name] ?? ''}; say ${wanted}, as package.json of the checkout.`];
  });
  if (client.version === own.version) return differing;
  return [`The version is ${client.version}; say ${own.version}, as package.json of the checkout.`, ...differing];
}
