/** The parts of an input key `<node_id>:<NodeClass>.<parameter>` (specification, section 2.2). */
export interface InputKey {
  readonly nodeId: string;
  readonly nodeClass: string;
  readonly parameter: string;
}

/**
 * Splits an input key at its first `:` and its last `.`: class names may hold spaces, colons and dots themselves
 * (`27:LayerColor: Levels.channel`). `undefined` when one of the three parts is missing.
 */
export function parseInputKey(key: string): InputKey | undefined {
  const colon = key.indexOf(':');
  const dot = key.lastIndexOf('.');
  if (colon < 1 || dot < colon) return undefined;
  const nodeClass = key.slice(colon + 1, dot);
  const parameter = key.slice(dot + 1);
  const parts = { nodeId: key.slice(0, colon), nodeClass, parameter };
  return Object.values(parts).every((part) => part.trim() !== '') ? parts : undefined;
}
