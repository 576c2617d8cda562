import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

/** The project's folder. */
export const projectRoot = join(__dirname, '../../..');

const serviceSchema = z.object({
  image: z.string(),
  mem_limit: z.string(),
  pids_limit: z.number(),
  cap_drop: z.array(z.string()),
  cap_add: z.array(z.string()).default([]),
  security_opt: z.array(z.string()),
  read_only: z.boolean().default(false),
  networks: z.array(z.string()).default([]),
  network_mode: z.string().optional(),
  profiles: z.array(z.string()).default([]),
  build: z.union([z.string(), z.object({ context: z.string(), target: z.string() })]).optional(),
  entrypoint: z.array(z.string()).optional(),
  command: z.array(z.string()).optional(),
  // Without a value: as where compose runs, or not at all.
  environment: z.record(z.string(), z.string().nullable()).default({}),
  healthcheck: z.object({ test: z.array(z.string()) }).optional(),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
  restart: z.string(),
  ports: z.array(z.string()).default([]),
  volumes: z.array(z.string()).default([]),
  secrets: z.array(z.string()).default([]),
  configs: z.array(z.object({ source: z.string() })).default([]),
});
const composeSchema = z.object({
  services: z.record(z.string(), serviceSchema),
  networks: z.record(z.string(), z.object({ internal: z.boolean().optional() }).nullable()),
  volumes: z.record(z.string(), z.unknown()),
  secrets: z.record(z.string(), z.object({ environment: z.string() })),
  configs: z.record(z.string(), z.object({ content: z.string() })),
});

/** A service of `docker-compose.yml`, as far as the tests look at it. */
export type ComposeService = z.output<typeof serviceSchema>;

/** The compose file's text. */
export const composeText = readFileSync(join(projectRoot, 'docker-compose.yml'), 'utf8');

/** The compose file as it is written, its merge keys resolved; variables stand as they are. */
export const composeDocument: unknown = parse(composeText, { merge: true });

/** The compose file in the shape that it has here. */
export const compose = composeSchema.parse(composeDocument);

/** A service by its name. */
export function composeService(name: string): ComposeService {
  const service = compose.services[name];
  if (service === undefined) throw new Error(`There is no service ${name} in the compose file.`);
  return service;
}

/** A use of a variable in the compose file: `${NAME}`, `${NAME:-default}`, `${NAME:+instead}` or `${NAME:?message}`. */
export interface VariableUse {
  readonly name: string;
  readonly operator: string;
  readonly operand: string;
}

/** Every use of a variable, in the order of the text. */
export function variableUses(text: string = composeText): VariableUse[] {
  return [...text.matchAll(/(?<!\$)\$\{(\w+)(:?[-?+]?)([^}]*)\}/g)].map(
    ([, name = '', operator = '', operand = '']) => ({ name, operator, operand }),
  );
}

/** A text with its variables replaced as compose does it. Throws when a required one has no value. */
export function interpolated(text: string, values: Readonly<Record<string, string>>): string {
  const uses = /(?<!\$)\$\{(\w+)(?:(:[-+?])([^}]*))?\}/g;
  const replaced = text.replace(uses, (_, name: string, operator?: string, operand?: string) => {
    const value = values[name] ?? '';
    if (operator === ':+') return value === '' ? '' : (operand ?? '');
    if (value !== '' || operator === undefined) return value;
    if (operator === ':?') throw new Error(`${name}: ${operand ?? ''}`);
    return operand ?? '';
  });
  return replaced.replaceAll('$$', '$');
}

/** The environment that compose gives a service's container, by the values of `.env`. */
export function composeEnvironment(name: string, values: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(composeService(name).environment).map(([variable, text]) => {
    return [variable, text === null ? values[variable] : interpolated(text, values)] as const;
  });
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
}
