import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createGenerator, type Schema } from 'ts-json-schema-generator';

const root = join(__dirname, '..');

/** Where the schema is kept, for backends that have no TypeScript. */
export const contractSchemaFile = join(root, 'docs/reference/contract.schema.json');

/** What Longhaul checks itself, and refuses unknown fields of; everything else may get fields in a later version. */
const closed = ['input', 'argument', 'signals'];

/** The JSON Schema of `Contract` in src/contract/contract.ts, as the text of a file. */
export function makeContractSchema(): string {
  const generated = createGenerator({
    path: join(root, 'src/contract/contract.ts'),
    tsconfig: join(root, 'tsconfig.json'),
    type: 'Contract',
    jsDoc: 'extended',
    expose: 'export',
    // `npm run typecheck` does.
    skipTypeCheck: true,
  }).createSchema('Contract');
  const schema = { title: 'What a Temporal client exchanges with Longhaul’s workflows', ...generated };
  openAllBut(closedDefinitions(schema), schema);
  return `${JSON.stringify(schema, null, 2)}
`;
}

/** The definitions that inputs and arguments are made of. */
function closedDefinitions({ definitions = {} }: Schema): ReadonlySet<string> {
  const found = new Set<string>();
  const collect = (node: unknown, isInside: boolean): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [name, value] of Object.entries(node)) {
      if (name === '$ref' && isInside) follow(String(value));
      else collect(value, isInside || closed.includes(name));
    }
  };
  const follow = (reference: string): void => {
    const name = reference.replace('#/definitions/', '');
    if (found.has(name)) return;
    found.add(name);
    collect(definitions[name], true);
  };
  collect(definitions['Contract'], false);
  return found;
}

/** Lets every object but those have more fields than it has now. */
function openAllBut(kept: ReadonlySet<string>, { definitions = {} }: Schema): void {
  for (const [name, definition] of Object.entries(definitions)) {
    if (!kept.has(name)) open(definition);
  }
}

function open(node: unknown): void {
  if (typeof node !== 'object' || node === null) return;
  if ('additionalProperties' in node && node.additionalProperties === false) delete node.additionalProperties;
  for (const value of Object.values(node)) open(value);
}

/** Writes the file; without a change it stays as it is. */
function main(): void {
  const text = makeContractSchema();
  if (readFileSync(contractSchemaFile, { encoding: 'utf8', flag: 'a+' }) === text) return;
  writeFileSync(contractSchemaFile, text);
  console.log('docs/reference/contract.schema.json is written anew.');
}

if (require.main === module) main();
