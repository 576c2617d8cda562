import { readdir, readFile } from 'node:fs/promises';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { build, type BuildOptions, type Metafile, type Plugin } from 'esbuild';
import { z } from 'zod';

const manifestSchema = z.object({ name: z.string(), version: z.string(), license: z.string().optional() });
/** Some packages of the AWS SDK name it without a copy; Longhaul's own package has one. */
const ownLicence = { name: 'Apache-2.0', text: 'Apache License 2.0, as in the file LICENSE of this package.' };

/** What the modules of a bundle import beside each other. */
export interface ReachedPackages {
  /** Names of packages that stay imports: they are installed beside the bundle. */
  readonly installed: ReadonlySet<string>;
  /** Names of packages that the sources themselves import and that are now part of the bundle. */
  readonly inlined: ReadonlySet<string>;
  /** Folders of all packages that are now part of the bundle, those of `inlined` and what they import. */
  readonly folders: ReadonlySet<string>;
}

/** What {@link bundleModules} makes of what. */
export interface ModuleBundles {
  /** The checkout. */
  readonly root: string;
  /** Path of a source below the checkout, by the path of its bundle below `folder`, both without extension. */
  readonly entries: Readonly<Record<string, string>>;
  readonly folder: string;
  /** Packages that stay imports. */
  readonly installed: readonly string[];
  /**
   * Those of `entries`, at the top of `folder`, that the bundles beside them import instead of having a copy, so that a class
   * is the same in all of them. @default none
   */
  readonly shared?: readonly string[];
  /** Packages that may become parts of a bundle. What a module imports of any other stays an import, too. */
  readonly inlined: readonly string[];
}

/** Bundles modules as CommonJS for Node, not minified, with the packages that are named, and what those import. */
export async function bundleModules(bundles: ModuleBundles): Promise<ReachedPackages> {
  const { root, entries, folder, installed, inlined, shared = [] } = bundles;
  const metafile = await runEsbuild({
    absWorkingDir: root,
    entryPoints: Object.fromEntries(Object.entries(entries).map(([to, from]) => [to, `${from}.ts`])),
    outdir: folder,
    external: [...installed],
    // jsonc-parser's other form loads its parts in a way that no bundler can follow.
    mainFields: ['module', 'main'],
    tsconfig: join(root, 'tsconfig.json'),
    plugins: [leavingImports(inlined), sharing(new Map(shared.map((name) => [join(root, entries[name] ?? ''), name])))],
  });
  return reachedPackages(metafile, root);
}

/** What modules of a build import of other packages, whatever is installed. */
export async function installedPackages(root: string, modules: readonly string[]): Promise<ReadonlySet<string>> {
  const options: BuildOptions = { absWorkingDir: root, entryPoints: [...modules], packages: 'external' };
  return reachedPackages(await runEsbuild({ ...options, outdir: root, write: false }), root).installed;
}

/** Leaves the imports of our own modules as they are, but for those of some packages. */
function leavingImports(inlined: readonly string[]): Plugin {
  return {
    name: 'leaving-imports',
    setup: (own) => {
      own.onResolve({ filter: /^[^./]/ }, ({ path, importer }) => {
        const isLeft = importer !== '' && packageFolder(importer) === undefined && !inlined.includes(packageOf(path));
        return isLeft ? { path, external: true } : undefined;
      });
    },
  };
}

/** Leaves the imports of some modules as imports of their bundles, by the paths of their sources without extension. */
function sharing(names: ReadonlyMap<string, string>): Plugin {
  return {
    name: 'sharing',
    setup: (own) => {
      own.onResolve({ filter: /^\./ }, ({ path, importer, resolveDir }) => {
        const name = importer === '' ? undefined : names.get(join(resolveDir, path));
        return name === undefined ? undefined : { path: `./${name}.js`, external: true };
      });
    },
  };
}

async function runEsbuild(options: BuildOptions): Promise<Metafile> {
  const { metafile } = await build({
    ...{ bundle: true, platform: 'node', format: 'cjs', target: 'node20', charset: 'utf8' },
    // A class that refers to itself would be called `_Name`, in messages of Node, too.
    keepNames: true,
    ...{ legalComments: 'none', logLevel: 'silent' },
    ...options,
    metafile: true,
  });
  return metafile;
}

/** As esbuild names the functions that it adds itself. */
const ownHelpers = '<runtime>';

function reachedPackages({ inputs }: Metafile, root: string): ReachedPackages {
  const installed = new Set<string>();
  const inlined = new Set<string>();
  const folders = new Set<string>();
  for (const [input, { imports }] of Object.entries(inputs)) {
    const folder = packageFolder(input);
    if (folder !== undefined) folders.add(join(root, folder));
    for (const { path, external } of imports) {
      if (external === true) {
        if (!path.startsWith('.') && !isOfNode(path) && path !== ownHelpers) installed.add(packageOf(path));
      } else if (folder === undefined) {
        const name = packageFolder(path)?.split('node_modules/').at(-1);
        if (name !== undefined) inlined.add(name);
      }
    }
  }
  return { installed, inlined, folders };
}

function isOfNode(specifier: string): boolean {
  return specifier.startsWith('node:') || builtinModules.includes(specifier.split('/')[0] ?? '');
}

/** The package that an import names: `@scope/name/part` is of `@scope/name`. */
export function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/** Of a path below `node_modules`, the innermost package's folder. */
function packageFolder(path: string): string | undefined {
  return /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];
}

/**
 * The licences of packages that are part of a bundle, each text once, under the names and versions of its packages.
 * Throws where a package has none: it could not be handed on.
 */
export async function licencesOf(folders: Iterable<string>): Promise<string> {
  const packagesByText = new Map<string, string[]>();
  for (const folder of [...folders].sort()) {
    const manifest: unknown = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
    const { name, version, license } = manifestSchema.parse(manifest);
    const file = (await readdir(folder)).find((one) => /^licen[cs]e/i.test(one));
    if (file === undefined && license !== ownLicence.name) {
      throw new Error(`${name} ${version} has no file with its licence, so it cannot be inlined.`);
    }
    const text = file === undefined ? ownLicence.text : (await readFile(join(folder, file), 'utf8')).trim();
    packagesByText.set(text, [...(packagesByText.get(text) ?? []), `${name} ${version}`]);
  }
  const parts = [...packagesByText].map(([text, packages]) => `${packages.join('\n')}\n\n${text}\n`);
  return `Parts of these packages are in the files beside this one.\n\n${parts.join(`\n${'-'.repeat(80)}\n\n`)}`;
}
