import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';
import { packageOf } from './inlined-libraries';

/** Where a name of a module comes from: `*` is everything that the other module exports. */
interface Origin {
  readonly from: string;
  readonly name: string;
  readonly isType: boolean;
}

/** The declarations of one module, and what was asked for of them. */
interface Module {
  readonly path: string;
  readonly source: ts.SourceFile;
  /** A value and a type may have one name. */
  readonly declared: Map<string, ts.Statement[]>;
  readonly imported: Map<string, Origin>;
  /** Names that it exports of others, or its own under another name (`from` is empty then). */
  readonly exported: Map<string, Origin>;
  readonly keptStatements: Set<ts.Statement>;
  readonly keptImports: Set<string>;
  readonly keptExports: Set<string>;
}

/** What both packages export: paths below `src`, without extension. */
export const publicEntries = ['index', 'files', 'row-files', 'service/index', 'operator', 'testing', 'states'];

/** What users of a package see. */
export interface PublicDeclarations {
  /** Text by path below the folder. */
  readonly files: ReadonlyMap<string, string>;
  /** Names of packages whose types they use, and a file that does. */
  readonly packages: ReadonlyMap<string, string>;
}

/**
 * Of the declarations that TypeScript wrote into a folder, those that the entries reach, and nothing else: the schema
 * beside an interface would need the types of a library that is inlined, and so not installed.
 *
 * @param entries - paths below the folder, without extension.
 */
export function publicDeclarations(folder: string, entries: readonly string[]): PublicDeclarations {
  const modules = new Map<string, Module>();
  const packages = new Map<string, string>();

  function open(path: string): Module {
    const module = modules.get(path) ?? readModule(folder, path);
    modules.set(path, module);
    return module;
  }

  function follow(origin: Origin, importer: Module): void {
    if (!origin.from.startsWith('.')) {
      if (!origin.from.startsWith('node:')) packages.set(packageOf(origin.from), importer.path);
    } else if (origin.name === '*') keepAll(open(resolveModule(folder, importer.path, origin.from)));
    else keepExport(open(resolveModule(folder, importer.path, origin.from)), origin.name);
  }

  function keepAll(module: Module): void {
    for (const name of [...module.declared.keys(), ...module.exported.keys()]) keepExport(module, name);
  }

  function keepExport(module: Module, name: string): void {
    const origin = module.exported.get(name);
    if (origin === undefined) {
      keepName(module, name);
      return;
    }
    if (module.keptExports.has(name)) return;
    module.keptExports.add(name);
    if (origin.from === '') keepName(module, origin.name);
    else follow(origin, module);
  }

  /** A name as a declaration of the module uses it; one that it neither declares nor imports is the language's. */
  function keepName(module: Module, name: string): void {
    for (const statement of module.declared.get(name) ?? []) {
      if (module.keptStatements.has(statement)) continue;
      module.keptStatements.add(statement);
      keepUsed(module, statement);
    }
    const origin = module.imported.get(name);
    if (origin === undefined || module.keptImports.has(name)) return;
    module.keptImports.add(name);
    follow(origin, module);
  }

  function keepUsed(module: Module, node: ts.Node): void {
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument) && ts.isStringLiteral(node.argument.literal)) {
      const name = node.qualifier === undefined ? '*' : leftmost(node.qualifier);
      follow({ from: node.argument.literal.text, name, isType: true }, module);
    }
    const used = usedName(node);
    if (used !== undefined) keepName(module, leftmost(used));
    ts.forEachChild(node, (child) => {
      keepUsed(module, child);
    });
  }

  for (const entry of entries) keepAll(open(`${entry}.d.ts`));
  const files = [...modules.values()].map((module) => [module.path, moduleText(module)] as const);
  return { files: new Map(files), packages };
}

/** The name that a node refers to something by. */
function usedName(node: ts.Node): ts.Node | undefined {
  if (ts.isTypeReferenceNode(node)) return node.typeName;
  if (ts.isTypeQueryNode(node)) return node.exprName;
  if (ts.isExpressionWithTypeArguments(node) || ts.isComputedPropertyName(node)) return node.expression;
  return undefined;
}

function leftmost(name: ts.Node): string {
  if (ts.isQualifiedName(name)) return leftmost(name.left);
  if (ts.isPropertyAccessExpression(name)) return leftmost(name.expression);
  return ts.isIdentifier(name) ? name.text : '';
}

function resolveModule(folder: string, importer: string, specifier: string): string {
  const path = join(importer, '..', specifier.replace(/\.js$/, ''));
  return existsSync(join(folder, `${path}.d.ts`)) ? `${path}.d.ts` : relative('.', join(path, 'index.d.ts'));
}

function readModule(folder: string, path: string): Module {
  const source = ts.createSourceFile(path, readFileSync(join(folder, path), 'utf8'), ts.ScriptTarget.Latest, true);
  const module: Module = {
    ...{ path, source, declared: new Map(), imported: new Map(), exported: new Map() },
    ...{ keptStatements: new Set(), keptImports: new Set(), keptExports: new Set() },
  };
  for (const statement of source.statements) readStatement(module, statement);
  for (const [name, origin] of module.exported) module.exported.set(name, reexported(origin, module));
  return module;
}

/** What is imported and then exported is exported from where it comes: imports are written as types, which are no values. */
function reexported(origin: Origin, { imported }: Module): Origin {
  const imports = origin.from === '' ? imported.get(origin.name) : undefined;
  if (imports === undefined || imports.name === '*') return origin;
  return { ...imports, isType: origin.isType || imports.isType };
}

function readStatement({ declared, imported, exported, path }: Module, statement: ts.Statement): void {
  if (ts.isImportDeclaration(statement)) {
    const from = specifierOf(statement.moduleSpecifier);
    const bindings = statement.importClause?.namedBindings;
    if (bindings === undefined) return;
    if (ts.isNamespaceImport(bindings)) imported.set(bindings.name.text, { from, name: '*', isType: true });
    else {
      const areTypes = statement.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
      for (const { name, propertyName, isTypeOnly } of bindings.elements) {
        imported.set(name.text, { from, name: (propertyName ?? name).text, isType: areTypes || isTypeOnly });
      }
    }
  } else if (ts.isExportDeclaration(statement)) {
    const { exportClause, moduleSpecifier, isTypeOnly } = statement;
    if (exportClause === undefined || !ts.isNamedExports(exportClause)) {
      throw new Error(`${path} exports everything of another module; name what it exports.`);
    }
    const from = moduleSpecifier === undefined ? '' : specifierOf(moduleSpecifier);
    for (const { name, propertyName, isTypeOnly: isType } of exportClause.elements) {
      exported.set(name.text, { from, name: (propertyName ?? name).text, isType: isTypeOnly || isType });
    }
  } else {
    for (const name of declaredNames(statement)) declared.set(name, [...(declared.get(name) ?? []), statement]);
  }
}

function declaredNames(statement: ts.Statement): readonly string[] {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map(({ name }) => name.getText());
  return isDeclaration(statement) ? [statement.name.text] : [];
}

function isDeclaration(
  statement: ts.Statement,
): statement is ts.DeclarationStatement & { readonly name: ts.Identifier } {
  const isOne =
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isFunctionDeclaration(statement);
  return isOne && statement.name !== undefined;
}

function specifierOf(specifier: ts.Expression): string {
  return ts.isStringLiteral(specifier) ? specifier.text : '';
}

function moduleText({ source, imported, exported, keptStatements, keptImports, keptExports }: Module): string {
  const imports = [...keptImports].map((local) => {
    const { from, name } = imported.get(local) ?? { from: '', name: '' };
    const binding = name === '*' ? `* as ${local}` : `{ ${name === local ? name : `${name} as ${local}`} }`;
    return `import type ${binding} from '${from}';`;
  });
  const exports = [...keptExports].map((name) => {
    const origin = exported.get(name) ?? { from: '', name, isType: false };
    const binding = origin.name === name ? name : `${origin.name} as ${name}`;
    return `export ${origin.isType ? 'type ' : ''}{ ${binding} }${origin.from === '' ? '' : ` from '${origin.from}'`};`;
  });
  const statements = source.statements.filter((one) => keptStatements.has(one)).map((one) => one.getFullText().trim());
  return `${[...imports, ...exports, ...statements, 'export {};'].join('\n')}\n`;
}
