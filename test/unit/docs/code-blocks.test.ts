import { join } from 'node:path';
import ts from 'typescript';
import { codeBlocks, markdownPages } from '../../support/markdown';

const root = join(__dirname, '../../..');
const blocks = markdownPages().flatMap(codeBlocks);

/** The names under which the two packages export the same. */
const installed = Object.fromEntries(
  ['longhaul', '@longhaul/client'].flatMap((name) => [
    [name, ['./src/index.ts']],
    [`${name}/files`, ['./src/files.ts']],
    [`${name}/row-files`, ['./src/row-files.ts']],
    [`${name}/service`, ['./src/service/index.ts']],
  ]),
);

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
    const modules = blocks
      .filter(({ language }) => language === 'ts')
      .map(({ code, place }) => [`${place.replaceAll(/[/:]/g, '-')}.mts`, code] as const);
    expect(modules.length).toBeGreaterThan(20);

    expect(compile(Object.fromEntries(modules))).toEqual([]);
  });

  it('would not compile with a name that the library does not have', () => {
    const code = "import { nothing } from '@longhaul/client/service';\nconsole.log(nothing);\n";
    expect(compile({ 'wrong.mts': code })).toEqual([expect.stringContaining("no exported member 'nothing'")]);
  });

  it('is JavaScript without an error of syntax, and JSON that can be parsed', () => {
    const scripts = blocks.filter(({ language }) => language === 'js');
    const documents = blocks.filter(({ language }) => language === 'json');
    expect(scripts.length).toBeGreaterThan(0);
    expect(documents.length).toBeGreaterThan(8);

    expect([...scripts.flatMap(syntaxProblems), ...documents.flatMap(jsonProblems)]).toEqual([]);
  });

  it('is in a language that is checked, or says what is shown', () => {
    const known = ['', 'sh', 'ts', 'js', 'json', 'csv', 'yaml', 'nginx', 'caddyfile'];
    expect(blocks.filter(({ language }) => !known.includes(language))).toEqual([]);
    expect(jsonProblems({ code: '{ "a": 1, }', place: 'here' })).toEqual([expect.stringContaining('here: ')]);
    expect(syntaxProblems({ code: 'const = 1;', place: 'here' })).toContainEqual(expect.stringContaining('here: '));
  });
});

interface Placed {
  readonly code: string;
  readonly place: string;
}

function syntaxProblems({ code, place }: Placed): string[] {
  const options = { compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 } };
  const { diagnostics = [] } = ts.transpileModule(code, { ...options, fileName: 'block.mjs', reportDiagnostics: true });
  return diagnostics.map(({ messageText }) => `${place}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`);
}

/** A block may be one document, or one a line. */
function jsonProblems({ code, place }: Placed): string[] {
  try {
    JSON.parse(code);
    return [];
  } catch (error) {
    const lines = code.trim().split('\n');
    const isLines = lines.length > 1 && lines.every((line) => /^\{.*\}$/.test(line));
    return isLines ? lines.flatMap((line) => jsonProblems({ code: line, place })) : [`${place}: ${String(error)}`];
  }
}
