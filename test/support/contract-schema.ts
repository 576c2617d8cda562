import { readFileSync } from 'node:fs';
import Ajv, { type ValidateFunction } from 'ajv';
import { contractSchemaFile } from '../../tools/contract-schema';

type Node = Readonly<Record<string, unknown>>;

/** The committed schema (docs/reference/contract.schema.json), as it was read. */
export const contractSchema = JSON.parse(readFileSync(contractSchemaFile, 'utf8')) as Node & {
  readonly definitions: Readonly<Record<string, Node>>;
};

/** The same with no room for fields of later versions: what this version says must be described completely. */
function closedSchema(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closedSchema);
  if (typeof node !== 'object' || node === null) return node;
  const closed = Object.fromEntries(Object.entries(node).map(([name, value]) => [name, closedSchema(value)]));
  return 'properties' in closed ? { additionalProperties: false, ...closed } : closed;
}

const ajv = new Ajv({ allErrors: true, allowUnionTypes: true });
ajv.addSchema(contractSchema, 'contract');
ajv.addSchema(closedSchema(contractSchema) as Node, 'closed');

/** What the schema says against a value, line by line; nothing when it is one of that definition. */
export function schemaProblems(definition: string, value: unknown, schema: 'contract' | 'closed' = 'closed'): string {
  const validate: ValidateFunction | undefined = ajv.getSchema(`${schema}#/definitions/${definition}`);
  if (validate === undefined) throw new Error(`docs/reference/contract.schema.json has no ${definition}.`);
  return validate(value) ? '' : ajv.errorsText(validate.errors, { separator: '\n', dataVar: definition });
}
