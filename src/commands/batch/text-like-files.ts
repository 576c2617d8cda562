import { safeText } from '../../domain/text';
import { looksLikeMediaFile, type PreparedRow } from '../../rows';

/** An input whose text looks like the name of a file. */
export interface TextLikeFile {
  readonly key: string;
  /** So many rows have such a text there. */
  readonly rows: number;
  /** The first of the texts, shortened. */
  readonly example: string;
  /** How it would be written as a file. */
  readonly asFile: string;
}

const maxKeys = 20;

/** Finds inputs that are text and look like files that somebody forgot to mark; remembers one example for each key. */
export class TextLikeFiles {
  readonly #texts: ReadonlySet<string>;
  readonly #markedByAt: (key: string) => boolean;
  readonly #found = new Map<string, { rows: number; readonly example: string }>();

  /**
   * @param texts - keys of inputs that were said to be text.
   * @param markedByAt - whether a file is marked by an `@` there, as in cells, and not by `{ "file": … }`.
   */
  constructor(texts: Iterable<string>, markedByAt: (key: string) => boolean) {
    this.#texts = new Set(texts);
    this.#markedByAt = markedByAt;
  }

  add({ input }: PreparedRow): void {
    for (const [key, value] of Object.entries(input.inputs)) {
      if (typeof value !== 'string' || this.#texts.has(key) || !looksLikeMediaFile(value)) continue;
      const found = this.#found.get(key);
      if (found !== undefined) found.rows += 1;
      else if (this.#found.size < maxKeys) this.#found.set(key, { rows: 1, example: safeText(value) });
    }
  }

  get found(): readonly TextLikeFile[] {
    return [...this.#found].map(([key, { rows, example }]) => ({
      ...{ key, rows, example },
      asFile: this.#markedByAt(key) ? `@${example}` : JSON.stringify({ file: example }),
    }));
  }
}
