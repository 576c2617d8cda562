import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as ts from 'typescript';

const root = join(__dirname, '..');
const contractFile = join(root, 'src/contract/contract.ts');

/** Where the schema is kept, for backends that have no TypeScript. */
export const contractSchemaFile = join(root, 'docs/reference/contract.schema.json');

type Schema = Record<string, unknown>;

/** What Longhaul checks itself, and refuses unknown fields of; everything else may get fields in a later version. */
const closed = ['input', 'argument', 'callback'];

/** The JSON Schema of `Contract` in src/contract/contract.ts, as the text of a file. */
export function makeContractSchema(): string {
  const options = { strict: true, skipLibCheck: true, module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2023 };
  const program = ts.createProgram([contractFile], options);
  const definitions = new Definitions(program).of(contractFile, 'Contract');
  const schema = {
    title: 'What a Temporal client exchanges with Longhaul’s workflows',
    $schema: 'http://json-schema.org/draft-07/schema#',
    $ref: '#/definitions/Contract',
    definitions,
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

/** Makes a definition of each exported type of the project that a type reaches; the checker knows what schemas infer. */
class Definitions {
  readonly #checker: ts.TypeChecker;
  readonly #program: ts.Program;
  readonly #names = new Map<ts.Type, ts.Symbol>();
  readonly #made: Record<string, Schema> = {};

  constructor(program: ts.Program) {
    this.#program = program;
    this.#checker = program.getTypeChecker();
  }

  of(file: string, name: string): Record<string, Schema> {
    for (const source of this.#program.getSourceFiles()) {
      if (!source.fileName.includes('/src/') || source.isDeclarationFile) continue;
      ts.forEachChild(source, (node) => {
        this.#nameType(node);
      });
    }
    const source = this.#program.getSourceFile(file);
    ts.forEachChild(source ?? raise(`${file} is missing.`), (node) => {
      if (ts.isInterfaceDeclaration(node) && node.name.text === name) this.#schemaOf(this.#typeAt(node), false);
    });
    return this.#made;
  }

  #nameType(node: ts.Node): void {
    const isNamed = ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node);
    if (!isNamed || node.typeParameters !== undefined) return;
    if (!(node.modifiers ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return;
    const type = this.#typeAt(node);
    const isShape = (type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Union | ts.TypeFlags.Intersection)) !== 0;
    const symbol = this.#checker.getSymbolAtLocation(node.name);
    if (isShape && symbol !== undefined && !this.#names.has(type)) this.#names.set(type, symbol);
  }

  #typeAt(node: ts.Node): ts.Type {
    return this.#checker.getTypeAtLocation(node);
  }

  #schemaOf(type: ts.Type, isClosed: boolean): Schema {
    const symbol = this.#names.get(type);
    if (symbol === undefined) return this.#inlineSchemaOf(type, isClosed);
    const { name } = symbol;
    if (this.#made[name] === undefined) {
      this.#made[name] = {};
      this.#made[name] = { ...this.#inlineSchemaOf(type, isClosed), ...this.#words(symbol) };
    }
    return { $ref: `#/definitions/${name}` };
  }

  #inlineSchemaOf(type: ts.Type, isClosed: boolean): Schema {
    const { flags } = type;
    if (type.isUnion()) return this.#unionOf(type, isClosed);
    if (type.isStringLiteral() || type.isNumberLiteral()) return { type: typeof type.value, const: type.value };
    if (flags & ts.TypeFlags.BooleanLiteral)
      return { type: 'boolean', const: this.#checker.typeToString(type) === 'true' };
    if (flags & (ts.TypeFlags.String | ts.TypeFlags.TemplateLiteral)) return { type: 'string' };
    if (flags & ts.TypeFlags.Number) return { type: 'number' };
    if (flags & ts.TypeFlags.Boolean) return { type: 'boolean' };
    if (flags & ts.TypeFlags.Null) return { type: 'null' };
    if (flags & (ts.TypeFlags.Unknown | ts.TypeFlags.Any)) return {};
    if (this.#checker.isArrayType(type)) {
      const [item] = this.#checker.getTypeArguments(type as ts.TypeReference);
      return { type: 'array', items: this.#schemaOf(item ?? raise('An array of nothing.'), isClosed) };
    }
    if (flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)) return this.#objectOf(type, isClosed);
    return raise(`No JSON Schema for ${this.#checker.typeToString(type)}.`);
  }

  #unionOf(type: ts.UnionType, isClosed: boolean): Schema {
    // `string & {}` lets an editor suggest the words beside it; to a schema it is a text.
    const members = type.types.filter(({ flags }) => (flags & ts.TypeFlags.Undefined) === 0);
    if (members.some((one) => one.isIntersection() && one.types.some(({ flags }) => flags & ts.TypeFlags.String)))
      return { type: 'string' };
    const booleans = members.filter(({ flags }) => flags & ts.TypeFlags.BooleanLiteral);
    const literals = members.filter((one) => one.isStringLiteral());
    const schemas: Schema[] = members
      .filter(
        (one) => !literals.includes(one as ts.StringLiteralType) && !(booleans.length === 2 && booleans.includes(one)),
      )
      .map((one) => this.#schemaOf(one, isClosed));
    if (booleans.length === 2) schemas.unshift({ type: 'boolean' });
    if (literals.length === 1) schemas.unshift({ type: 'string', const: literals[0]?.value });
    if (literals.length > 1) schemas.unshift({ type: 'string', enum: literals.map(({ value }) => value) });
    const [only, ...others] = schemas;
    if (only !== undefined && others.length === 0) return only;
    const arePlain = schemas.every((schema) => Object.keys(schema).join() === 'type');
    return arePlain ? { type: [...new Set(schemas.map((schema) => schema['type']))] } : { anyOf: schemas };
  }

  #objectOf(type: ts.Type, isClosed: boolean): Schema {
    const index = this.#checker.getIndexInfoOfType(type, ts.IndexKind.String);
    const properties: Record<string, Schema> = {};
    const required: string[] = [];
    for (const property of type.getProperties()) {
      const words = this.#words(property);
      if ('hide' in words) continue;
      const { name } = property;
      properties[name] = {
        ...this.#schemaOf(this.#checker.getTypeOfSymbol(property), isClosed || closed.includes(name)),
        ...words,
      };
      if ((property.flags & ts.SymbolFlags.Optional) === 0) required.push(name);
    }
    const schema: Schema = { type: 'object' };
    if (type.getProperties().length > 0) schema['properties'] = properties;
    if (required.length > 0) schema['required'] = required;
    if (index !== undefined) schema['additionalProperties'] = this.#schemaOf(index.type, isClosed);
    else if (isClosed) schema['additionalProperties'] = false;
    return schema;
  }

  /** What the doc comment of a property or a type says: its words, and tags that are keywords of JSON Schema. */
  #words(symbol: ts.Symbol): Schema {
    const words: Schema = {};
    const text = ts.displayPartsToString(symbol.getDocumentationComment(this.#checker)).replaceAll('\n', ' ');
    for (const { name, text: value } of symbol.getJsDocTags(this.#checker)) {
      const said = ts.displayPartsToString(value);
      if (name === 'asType') words['type'] = said;
      else if (name === 'pattern') words['pattern'] = said;
      else if (['minimum', 'maximum', 'minLength', 'default', 'propertyNames'].includes(name))
        words[name] = JSON.parse(said) as unknown;
      else if (name === 'hide') words['hide'] = true;
    }
    return text === '' ? words : { ...words, description: text };
  }
}

function raise(message: string): never {
  throw new Error(message);
}

/** Writes the file; without a change it stays as it is. */
function main(): void {
  const text = makeContractSchema();
  if (readFileSync(contractSchemaFile, { encoding: 'utf8', flag: 'a+' }) === text) return;
  writeFileSync(contractSchemaFile, text);
  console.log('docs/reference/contract.schema.json is written anew.');
}

if (require.main === module) main();
