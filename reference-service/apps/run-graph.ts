import type { LinkValue, NodeContext } from '../nodes/node-class';
import type { Graph, GraphNode } from './graph';
import type { Semaphore } from './semaphore';

/** A node that threw; the message names node and class, the way a person finds it in the app. */
class NodeError extends Error {
  override readonly name = 'NodeError';
}

/**
 * Runs the nodes of a graph one after the other and frees each image after its last use. At most as many nodes
 * compute at once, over all tasks, as `places` has. Throws a {@link NodeError}, or the abort's reason.
 */
export async function runGraph(graph: Graph, context: NodeContext, places: Semaphore): Promise<void> {
  const results = new Map<string, readonly LinkValue[]>();
  const usesLeft = countUses(graph);
  for (const node of graph.values()) {
    context.signal.throwIfAborted();
    results.set(node.id, await runNode(node, results, context, places));
    for (const { nodeId } of Object.values(node.links)) {
      const left = (usesLeft.get(nodeId) ?? 0) - 1;
      usesLeft.set(nodeId, left);
      if (left === 0) results.delete(nodeId);
    }
  }
}

async function runNode(
  node: GraphNode,
  results: ReadonlyMap<string, readonly LinkValue[]>,
  context: NodeContext,
  places: Semaphore,
): Promise<readonly LinkValue[]> {
  const links: Record<string, LinkValue> = {};
  for (const [name, { nodeId, slot }] of Object.entries(node.links)) {
    const value = results.get(nodeId)?.[slot];
    if (value !== undefined) links[name] = value;
  }
  const run = (): Promise<readonly LinkValue[]> => node.nodeClass.run({ values: node.values, links }, context);
  try {
    return await (node.nodeClass.isIdle ? run() : places.use(run));
  } catch (error) {
    context.signal.throwIfAborted();
    const message = error instanceof Error ? error.message : 'unknown error';
    throw new NodeError(`node ${node.id} (${node.nodeClass.className}): ${message}`, { cause: error });
  }
}

function countUses(graph: Graph): Map<string, number> {
  const uses = new Map<string, number>();
  for (const node of graph.values()) {
    for (const { nodeId } of Object.values(node.links)) uses.set(nodeId, (uses.get(nodeId) ?? 0) + 1);
  }
  return uses;
}
