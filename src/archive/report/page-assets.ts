import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface PageAssets {
  readonly script: string;
  readonly style: string;
}

/** Beside the folder of this file in a build. */
const built = join(__dirname, '..', '..', 'report-page');
const sources = join(__dirname, '..', '..', '..', 'report-page');
const libraries = ['preact', 'uplot', '@tanstack/virtual-core'];

let assets: Promise<PageAssets> | undefined;

/** Made of the sources when there is no build. */
export async function openPageAssets(): Promise<PageAssets> {
  assets ??= existsSync(`${built}.js`) ? readPageAssets() : buildPageAssets();
  return await assets;
}

async function readPageAssets(): Promise<PageAssets> {
  return { script: await readFile(`${built}.js`, 'utf8'), style: await readFile(`${built}.css`, 'utf8') };
}

/** With the libraries that the page uses, and their licences. */
export async function buildPageAssets(): Promise<PageAssets> {
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    entryPoints: [join(sources, 'main.tsx')],
    tsconfig: join(sources, 'tsconfig.json'),
    banner: { js: await licences() },
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2022',
    charset: 'utf8',
    write: false,
    outdir: built,
    legalComments: 'none',
    logLevel: 'silent',
  });
  const textOf = (extension: string): string => {
    const text = outputFiles.find(({ path }) => path.endsWith(extension))?.text ?? '';
    // It would end the element that it stands in.
    return text.replaceAll(/<\/(script|style)/gi, '<\\/$1');
  };
  return { script: textOf('.js'), style: textOf('.css') };
}

async function licences(): Promise<string> {
  const texts = libraries.map(async (name) => {
    const text = await readFile(join(sources, '..', 'node_modules', name, 'LICENSE'), 'utf8');
    return `${name}\n\n${text.trim()}`;
  });
  return `/*\n${(await Promise.all(texts)).join('\n\n').replaceAll('*/', '* /')}\n*/`;
}
