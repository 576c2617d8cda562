import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const root = join(__dirname, '../../..');
const pages = ['README.md', 'docs/reference/library.md', 'docs/reference/service-library.md'];

/** The names under which the two packages export the same. */
const installed = Object.fromEntries(
  ['longhaul', '@longhaul/client'].flatMap((name) => [
    [name, ['./src/index.ts']],
    [`${name}/files`, ['./src/files.ts']],
    [`${name}/service`, ['./src/service/index.ts']],
  ]),
);

/** The TypeScript of a page, each block as the text of a module. */
function codeBlocks(page: string): string[] {
  return [...readFileSync(join(root, page), 'utf8').matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code);
}

/** What the compiler says of these modules, with the library as it is installed: by its two names. */
function compile(modules: Readonly<Record<string, string>>): string[] {
  const config = ts.getParsedCommandLineOfConfigFile(
    join(root, 'tsconfig.json'),
    { noEmit: true, paths: installed },
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => undefined },
  );
  if (config === undefined) throw new Error('tsconfig.json cannot be read');
  const host = ts.createCompilerHost(config.options);
  const readSource = host.getSourceFile.bind(host);
  const files = Object.fromEntries(Object.entries(modules).map(([name, text]) => [join(root, 'docs', name), text]));
  host.fileExists = (path) => path in files || ts.sys.fileExists(path);
  host.getSourceFile = (path, options) => {
    const text = files[path];
    return text === undefined ? readSource(path, options) : ts.createSourceFile(path, text, options);
  };
  const program = ts.createProgram(Object.keys(files), config.options, host);
  return Object.keys(files).flatMap((path) => {
    const source = program.getSourceFile(path);
    return ts
      .getPreEmitDiagnostics(program, source)
      .map(({ messageText }) => `${path}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`);
  });
}

describe('the code in the documentation', () => {
  it('is TypeScript that compiles against the library', () => {
    const modules = pages.flatMap((page) =>
      codeBlocks(page).map((code, index) => [`${page.replaceAll('/', '-')}-${index}.mts`, code] as const),
    );
    expect(modules.length).toBeGreaterThan(9);

    expect(compile(Object.fromEntries(modules))).toEqual([]);
  });

  it('would not compile with a name that the library does not have', () => {
    const code = "import { nothing } from '@longhaul/client/service';\nconsole.log(nothing);\n";
    expect(compile({ 'wrong.mts': code })).toEqual([expect.stringContaining("no exported member 'nothing'")]);
  });
});
