import { parseInputKey } from '../../domain/input-values';
import { showValue } from '../../domain/text';
import type { RowTable } from '../../rows';

/** An input, and how messages of the service name it. */
interface NamedInput {
  readonly columns: readonly string[];
  readonly key: RegExp;
  readonly node: RegExp;
}

const maxColumns = 3;

/** Names the columns of a row file in messages of the service, which knows the inputs that a template makes of them. */
export class InputColumns {
  readonly #inputs: readonly NamedInput[];

  constructor({ inputColumns = {} }: Partial<Pick<RowTable, 'inputColumns'>> = {}) {
    this.#inputs = Object.entries(inputColumns)
      .filter(([, columns]) => columns.length > 0)
      .map(([key, columns]) => ({ columns, key: keyPattern(key), node: nodePattern(key) }));
  }

  /** The message, and behind it the columns of the inputs that it names; where it names a node alone, of all inputs of that. */
  addTo(message: string): string {
    const named = this.#inputs.filter(({ key }) => key.test(message));
    const meant = named.length > 0 ? named : this.#inputs.filter(({ node }) => node.test(message));
    const names = [...new Set(meant.flatMap(({ columns }) => columns))];
    if (names.length === 0) return message;
    const shown = names.slice(0, maxColumns).map((name) => showValue(name));
    const more = names.length > maxColumns ? [`and ${names.length - maxColumns} more`] : [];
    return `${message} (column${names.length > 1 ? 's' : ''} ${[...shown, ...more].join(', ')})`;
  }
}

/** `2:ImageScale.width`, and not as a part of another key. */
function keyPattern(key: string): RegExp {
  return new RegExp(`(?<![\\w.])${literal(key)}(?!\\w|\\.\\w)`);
}

/** `node 1 (LoadImage)`, of which the service tells no input. */
function nodePattern(key: string): RegExp {
  const { nodeId = '', nodeClass = '' } = parseInputKey(key) ?? {};
  return new RegExp(`(?<![\\w.])${literal(nodeId)}[ :("']{1,3}${literal(nodeClass)}(?!\\w|\\.\\w)`);
}

function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
