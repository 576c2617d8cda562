import { resourceParameter, type ParameterValue } from '../nodes/parameters';
import { Refusal } from '../refusal';
import type { Graph, GraphNode } from './graph';

/** The three parts of a key of `input_values`. */
export interface InputKey {
  readonly nodeId: string;
  readonly className: string;
  readonly parameter: string;
}

/** Finds the object key of a committed input by its url, name or id; throws a {@link Refusal} when there is none. */
export type ResolveResource = (reference: string) => string;

/**
 * Splits `<node_id>:<NodeClass>.<parameter>` (specification section 2.2) at the first `:` and the last `.`, for class
 * names may hold both. Throws a {@link Refusal} when a part is missing.
 */
export function parseInputKey(key: string): InputKey {
  const colon = key.indexOf(':');
  const dot = key.lastIndexOf('.');
  const [nodeId, className, parameter] = [key.slice(0, colon), key.slice(colon + 1, dot), key.slice(dot + 1)];
  if (colon < 1 || dot <= colon + 1 || parameter === '') {
    throw new Refusal(
      'badParameter',
      `input_values: "${shorten(key)}" is not of the form <node_id>:<NodeClass>.<parameter>`,
    );
  }
  return { nodeId, className, parameter };
}

/**
 * The graph of one task: the app's, with `inputValues` in place of its own values and every resource resolved.
 * Throws a {@link Refusal} that names the key for an unknown node, class or parameter and for a wrong value.
 */
export function applyOverrides(
  graph: Graph,
  inputValues: Readonly<Record<string, ParameterValue>>,
  resolveResource: ResolveResource,
): Graph {
  const overridden = new Map(graph);
  for (const [key, value] of Object.entries(inputValues)) {
    const { nodeId, className, parameter } = parseInputKey(key);
    const node = overridden.get(nodeId);
    if (node === undefined) throw refuseKey(key, `the app has no node ${shorten(nodeId)}`);
    if (node.nodeClass.className !== className) {
      throw refuseKey(key, `node ${nodeId} is of the class ${node.nodeClass.className}`);
    }
    overridden.set(nodeId, {
      ...node,
      values: { ...node.values, [parameter]: parseOverride(key, node, parameter, value) },
    });
  }
  return new Map([...overridden].map(([id, node]) => [id, resolveResources(node, resolveResource)]));
}

function parseOverride(key: string, node: GraphNode, parameter: string, value: ParameterValue): ParameterValue {
  if (Object.hasOwn(node.links, parameter)) throw refuseKey(key, 'this input is linked to another node');
  const schema = Object.hasOwn(node.nodeClass.parameters, parameter) ? node.nodeClass.parameters[parameter] : undefined;
  if (schema === undefined) {
    const known = Object.keys(node.nodeClass.parameters).join(', ') || 'none';
    throw refuseKey(key, `the class has no such parameter; it has: ${known}`);
  }
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw refuseKey(key, parsed.error.issues[0]?.message ?? 'wrong value');
  return parsed.data;
}

function resolveResources(node: GraphNode, resolveResource: ResolveResource): GraphNode {
  const values = { ...node.values };
  for (const [name, schema] of Object.entries(node.nodeClass.parameters)) {
    if (schema !== resourceParameter) continue;
    const key = `${node.id}:${node.nodeClass.className}.${name}`;
    const reference = String(values[name] ?? '');
    if (reference === '') throw refuseKey(key, 'must name an input resource by url, name or id');
    values[name] = resolve(key, reference, resolveResource);
  }
  return { ...node, values };
}

function resolve(key: string, reference: string, resolveResource: ResolveResource): string {
  try {
    return resolveResource(reference);
  } catch (error) {
    throw error instanceof Refusal ? refuseKey(key, error.message) : error;
  }
}

function refuseKey(key: string, why: string): Refusal {
  return new Refusal('badParameter', `input_values["${shorten(key)}"]: ${why}`);
}

/** Keeps what a caller sent from filling an answer. */
function shorten(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
