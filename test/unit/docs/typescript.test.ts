import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { type CodeBlock, codeBlocks, markdownPages } from '../../support/markdown';

const root = join(__dirname, '../../..');
const page = readFileSync(join(root, 'docs/reference/library.md'), 'utf8');
const blocks = markdownPages().flatMap(codeBlocks);
const entries = ['src/index.ts', 'src/files.ts', 'src/row-files.ts'].map((file) => join(root, file));
const modules = new Map(
  blocks
    .filter(({ language }) => language === 'ts')
    .map(({ code, place }) => [join(root, 'docs', `${place.replaceAll(/[/:]/g, '-')}.mts`), code]),
);

/** The library and the code of the pages, which has the library by the names of its two packages. */
function compile(): ts.Program {
  const paths = Object.fromEntries(
    ['longhaul', '@longhaul/client'].flatMap((name) => [
      [name, ['./src/index.ts']],
      [`${name}/files`, ['./src/files.ts']],
      [`${name}/row-files`, ['./src/row-files.ts']],
      [`${name}/service`, ['./src/service/index.ts']],
      [`${name}/operator`, ['./src/operator.ts']],
      [`${name}/testing`, ['./src/testing.ts']],
      [`${name}/states`, ['./src/states.ts']],
    ]),
  );
  const config = ts.getParsedCommandLineOfConfigFile(
    join(root, 'tsconfig.json'),
    { noEmit: true, paths },
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => undefined },
  );
  if (config === undefined) throw new Error('tsconfig.json cannot be read');
  const host = ts.createCompilerHost(config.options);
  const readSource = host.getSourceFile.bind(host);
  host.fileExists = (path) => modules.has(path) || ts.sys.fileExists(path);
  host.getSourceFile = (path, options) => {
    const text = modules.get(path);
    return text === undefined ? readSource(path, options) : ts.createSourceFile(path, text, options);
  };
  return ts.createProgram([...entries, ...modules.keys()], config.options, host);
}

const program = compile();

describe('the code in the documentation', () => {
  it('is TypeScript that compiles against the library', () => {
    expect(modules.size).toBeGreaterThan(15);
    const problems = [...modules.keys()].flatMap((path) =>
      ts
        .getPreEmitDiagnostics(program, program.getSourceFile(path))
        .map(({ messageText }) => `${path}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`),
    );
    expect(problems).toEqual([]);
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
  });
});

function syntaxProblems({ code, place }: CodeBlock): string[] {
  const options = { compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 } };
  const { diagnostics = [] } = ts.transpileModule(code, { ...options, fileName: 'block.mjs', reportDiagnostics: true });
  return diagnostics.map(({ messageText }) => `${place}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`);
}

/** A block may be one document, or one a line. */
function jsonProblems({ code, place, language }: CodeBlock): string[] {
  try {
    JSON.parse(code);
    return [];
  } catch (error) {
    const lines = code.trim().split('\n');
    const isLines = lines.length > 1 && lines.every((line) => /^\{.*\}$/.test(line));
    return isLines
      ? lines.flatMap((line) => jsonProblems({ code: line, place, language }))
      : [`${place}: ${String(error)}`];
  }
}

/** What an application passes in; `TaskInput` is one of two others, and `TaskTuning` is in the schema of the contract. */
const isOptions = (name: string): boolean =>
  /(?:Options|Input|Place|Deadlines)$/.test(name) &&
  !['TaskInput', 'AdoptedTaskInput', 'ContentTaskInput'].includes(name);

interface Exported {
  /** What each class of an error has beside an `Error`. */
  readonly errors: ReadonlyMap<string, readonly string[]>;
  readonly options: ReadonlyMap<string, ReadonlySet<string>>;
  readonly methods: ReadonlyMap<string, readonly string[]>;
}

/** The types that the library exports, as the compiler sees them. */
function readExports(): Exported {
  const checker = program.getTypeChecker();
  const symbols = entries.flatMap((file) => {
    const source = program.getSourceFile(file);
    const module = source === undefined ? undefined : checker.getSymbolAtLocation(source);
    return module === undefined ? [] : checker.getExportsOfModule(module);
  });
  const resolved = symbols.map((symbol) =>
    (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol),
  );
  const namesOf = (symbol: ts.Symbol): readonly ts.Symbol[] => {
    const type = checker.getDeclaredTypeOfSymbol(symbol);
    const parts = type.isUnion() ? type.types : [type];
    const isGivable = (property: ts.Symbol): boolean =>
      (checker.getTypeOfSymbol(property).flags & (ts.TypeFlags.Never | ts.TypeFlags.Undefined)) === 0;
    return parts.flatMap((part) => checker.getPropertiesOfType(part)).filter(isGivable);
  };
  const isPublic = ({ name, valueDeclaration }: ts.Symbol): boolean => {
    const flags = valueDeclaration === undefined ? 0 : ts.getCombinedModifierFlags(valueDeclaration);
    return !/^(?:__|#)/.test(name) && (flags & (ts.ModifierFlags.Protected | ts.ModifierFlags.Private)) === 0;
  };
  const options = resolved
    .filter(({ name }) => isOptions(name))
    .map((symbol) => [symbol.name, new Set(namesOf(symbol).map(({ name }) => name))] as const);
  const errors = resolved.filter(({ name, flags }) => name.endsWith('Error') && (flags & ts.SymbolFlags.Class) !== 0);
  const ofEveryError = ['name', 'message', 'stack', 'cause'];
  const ownNames = (symbol: ts.Symbol): readonly string[] =>
    checker
      .getPropertiesOfType(checker.getDeclaredTypeOfSymbol(symbol))
      .map(({ name }) => name)
      .filter((name) => !ofEveryError.includes(name));
  const classes = resolved.filter(({ name }) => ['Longhaul', 'TaskHandle', 'BatchHandle'].includes(name));
  const publicNames = (symbol: ts.Symbol): readonly string[] =>
    namesOf(symbol)
      .filter(isPublic)
      .map(({ name }) => name);
  const methods = classes.map((symbol) => [symbol.name, publicNames(symbol)] as const);
  const fields = errors.map((symbol) => [symbol.name, ownNames(symbol)] as const);
  return { errors: new Map(fields), options: new Map(options), methods: new Map(methods) };
}

/** The names in the first column of the first table after a sentence that names the type. */
function documented(type: string): Set<string> {
  const start = page.search(new RegExp(`^[^|\\n]*\`${type}\`(?=[^|\\n]*$)`, 'm'));
  const table = start < 0 ? undefined : /(?:^\|.*\n)+/m.exec(page.slice(start))?.[0];
  const cells = (table ?? '')
    .split('\n')
    .slice(1)
    .map((line) => line.split('|', 2)[1] ?? '');
  return new Set(cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name)));
}

describe('docs/reference/library.md', () => {
  const { errors, options, methods } = readExports();

  it('has a table for each exported type of options, with every option and no other', () => {
    expect(options.size).toBeGreaterThan(14);
    const inherited: Readonly<Record<string, string>> = {
      LonghaulConnectOptions: 'LonghaulOptions',
      LonghaulClientOptions: 'LonghaulOptions',
      ListPageOptions: 'ListTasksOptions',
      StartTaskOptions: 'TaskStartOptions',
      AdoptTaskOptions: 'TaskStartOptions',
    };
    const wrong = [...options].flatMap(([type, names]) => {
      const base = options.get(inherited[type] ?? '') ?? new Set<string>();
      // What an adopted task adds to a new one is in the table of `AdoptTaskOptions`.
      const own = [...names].filter((name) => !base.has(name) && name !== 'adopt');
      const listed = documented(type);
      return [
        ...own.filter((name) => !listed.has(name)).map((name) => `${type}.${name} is missing`),
        ...[...listed].filter((name) => !names.has(name)).map((name) => `${type} has no ${name}`),
      ];
    });
    expect(wrong).toEqual([]);
  });

  it('names every method and property of the client and its handles', () => {
    const code = [...page.matchAll(/`[^`\n]+`|^```ts\n.*?^```$/gms)].map(([text]) => text).join('\n');
    const missing = [...methods].flatMap(([type, names]) =>
      names.filter((name) => !new RegExp(`\\b${name}\\b`).test(code)).map((name) => `${type}.${name}`),
    );
    expect([...methods.values()].flat().length).toBeGreaterThan(30);
    expect(missing).toEqual([]);
  });

  it('leads to a table of errors with every field of every class that is exported', () => {
    const lines = readFileSync(join(root, 'docs/reference/errors.md'), 'utf8').split('\n');
    const rowOf = (name: string): string => lines.find((line) => line.startsWith(`| \`${name}\``)) ?? '';
    const missing = [...errors].flatMap(([name, fields]) =>
      fields.filter((field) => !new RegExp(`\`${field}\\b`).test(rowOf(name))).map((field) => `${name}.${field}`),
    );
    expect(errors.get('InputChangedError')).toEqual(expect.arrayContaining(['key', 'workflowId', 'differing']));
    expect(missing).toEqual([]);
  });
});
