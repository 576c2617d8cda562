import { z } from 'zod';
import type { NodeClass } from '../nodes/node-class';
import { findNodeClass } from '../nodes/node-registry';
import { resourceParameter, type ParameterValue } from '../nodes/parameters';

/** Where a linked input comes from: an output slot of another node. */
export interface Link {
  readonly nodeId: string;
  readonly slot: number;
}

/** One node of an app's graph, its inputs separated into values and links. */
export interface GraphNode {
  readonly id: string;
  readonly nodeClass: NodeClass;
  readonly title: string;
  readonly values: Readonly<Record<string, ParameterValue>>;
  readonly links: Readonly<Record<string, Link>>;
}

/** A checked graph; the nodes are in the order in which they run. */
export type Graph = ReadonlyMap<string, GraphNode>;

const linkSchema = z.tuple([z.string().min(1), z.int().min(0)]);
const valueSchema = z.union([z.string(), z.number()]);

/** A graph in ComfyUI's API format: node id to class, inputs and title. */
const graphSchema = z.record(
  z.string().regex(/^[^:.]+$/, 'a node id must hold neither ":" nor "."'),
  z.object({
    class_type: z.string().min(1),
    inputs: z.record(z.string(), z.union([valueSchema, linkSchema])),
    _meta: z.object({ title: z.string() }).partial().optional(),
  }),
);

/**
 * Reads and checks a graph in ComfyUI's API format: known classes, every parameter given and of its type, every link
 * to an existing output of the right type, no cycle, at least one node that keeps a result. Throws an Error that
 * names node and input.
 */
export function parseGraph(json: unknown): Graph {
  const raw = graphSchema.parse(json);
  const nodes = new Map(Object.entries(raw).map(([id, node]) => [id, parseNode(id, node)]));
  for (const node of nodes.values()) checkLinks(node, nodes);
  const ordered = inRunningOrder(nodes);
  if (![...ordered.values()].some((node) => node.nodeClass.produces.length === 0)) {
    throw new Error('the graph has no node that keeps a result');
  }
  return ordered;
}

function parseNode(id: string, raw: z.output<typeof graphSchema>[string]): GraphNode {
  const nodeClass = findNodeClass(raw.class_type);
  if (nodeClass === undefined) throw new Error(`node ${id}: unknown class ${raw.class_type}`);
  const values: Record<string, ParameterValue> = {};
  const links: Record<string, Link> = {};
  for (const [name, input] of Object.entries(raw.inputs)) {
    if (Array.isArray(input)) links[name] = { nodeId: input[0], slot: input[1] };
    else values[name] = parseValue(`${id}:${raw.class_type}.${name}`, nodeClass, name, input);
  }
  for (const name of Object.keys(nodeClass.parameters)) {
    if (!Object.hasOwn(values, name)) throw new Error(`node ${id}: parameter ${name} is missing`);
  }
  return { id, nodeClass, title: raw._meta?.title ?? raw.class_type, values, links };
}

function parseValue(key: string, nodeClass: NodeClass, name: string, value: ParameterValue): ParameterValue {
  const schema = Object.hasOwn(nodeClass.parameters, name) ? nodeClass.parameters[name] : undefined;
  if (schema === undefined) throw new Error(`${key}: the class has no such parameter`);
  // An app leaves its resources open; each task says which ones it means.
  if (schema === resourceParameter) return value;
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new Error(`${key}: ${parsed.error.issues[0]?.message ?? 'wrong value'}`);
  return parsed.data;
}

function checkLinks(node: GraphNode, nodes: ReadonlyMap<string, GraphNode>): void {
  for (const [name, link] of Object.entries(node.links)) {
    const expected = Object.hasOwn(node.nodeClass.links, name) ? node.nodeClass.links[name] : undefined;
    if (expected === undefined) throw new Error(`node ${node.id}: the class has no link ${name}`);
    const produced = nodes.get(link.nodeId)?.nodeClass.produces[link.slot];
    if (produced !== expected.type) {
      throw new Error(
        `node ${node.id}: ${name} needs ${expected.type}, but ${link.nodeId}[${link.slot}] has ${produced ?? 'nothing'}`,
      );
    }
  }
  for (const [name, { optional }] of Object.entries(node.nodeClass.links)) {
    if (!optional && !Object.hasOwn(node.links, name)) throw new Error(`node ${node.id}: link ${name} is missing`);
  }
}

function inRunningOrder(nodes: ReadonlyMap<string, GraphNode>): Graph {
  const ordered = new Map<string, GraphNode>();
  const path = new Set<string>();
  const visit = (node: GraphNode): void => {
    if (ordered.has(node.id)) return;
    if (path.has(node.id)) throw new Error(`node ${node.id} is linked to itself`);
    path.add(node.id);
    for (const link of Object.values(node.links)) {
      const source = nodes.get(link.nodeId);
      if (source !== undefined) visit(source);
    }
    path.delete(node.id);
    ordered.set(node.id, node);
  };
  for (const node of nodes.values()) visit(node);
  return ordered;
}
