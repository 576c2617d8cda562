import type { Manifest } from '../archive/manifest';
import type { OutputItem } from '../service';
import { identifyLink, type LinkIdentity, matchLinks, mayBeSame, parseLinkIdentity } from './link-identity';
import type { Output, OutputNames } from './manifest';

/** A task's outputs over all lists. Order proves nothing: links or contents tell which output an item is. */
export class OutputList {
  readonly outputs: Output[] = [];
  readonly #names: OutputNames;
  readonly #key: string;
  readonly #links = new WeakMap<OutputItem, LinkIdentity>();
  #unplaced: OutputItem[] = [];
  /** Items without a link, by index in the list; they wait until all others are placed. */
  #linkless: (readonly [place: number, item: OutputItem])[] = [];
  /** Outputs that the last list lacks, by the path of their link; null: without one. */
  #unlisted = new Map<string | null, Set<Output>>();
  /** Paths of earlier links that stay the same; undefined where each list may have others. */
  #keptPaths: ReadonlySet<string | null> | undefined;

  /** @param key - of the hashes that links are remembered by; the same for all attempts of a task. */
  constructor(names: OutputNames, previous: Manifest['outputs'], key: string) {
    this.#names = names;
    this.#key = key;
    for (const output of previous) this.#addPrevious(output);
  }

  get unplaced(): number {
    return this.#unplaced.length;
  }

  update(items: readonly OutputItem[]): void {
    const { outputs } = this;
    this.#unplaced = [];
    this.#linkless = [];
    this.#unlisted = new Map();
    for (const output of outputs) {
      const path = output.link?.path ?? null;
      this.#unlisted.set(path, (this.#unlisted.get(path) ?? new Set()).add(output));
    }
    if (outputs.length === 0) {
      for (const item of items) this.#add(item);
      return;
    }
    const matches = matchLinks(
      outputs.map(({ link }) => link),
      items.map((item) => this.#linkOf(item)),
    );
    this.#keptPaths = matches.size > 0 ? new Set(this.#unlisted.keys()) : undefined;
    const others: OutputItem[] = [];
    for (const [place, item] of items.entries()) {
      const found = outputs[matches.get(place) ?? -1];
      if (found !== undefined) this.#take(found, item);
      else if (item.objectUrl === undefined) this.#linkless.push([place, item]);
      else others.push(item);
    }
    for (const item of others) {
      // Another item's file may be on its way to it, or be kept under its name.
      const isOpen = some(this.#candidates(item), (one) => isKept(one) || one.item.objectUrl !== undefined);
      if (isOpen) this.#unplaced.push(item);
      else this.place(item);
    }
    if (this.#unplaced.length === 0) this.placeLinkless();
    for (const unlisted of this.#unlisted.values()) {
      for (const output of unlisted) output.item = { ...output.item, objectUrl: undefined };
    }
  }

  takeUnplaced(): readonly OutputItem[] {
    const items = this.#unplaced;
    this.#unplaced = [];
    return items;
  }

  mayBeArchived(item: OutputItem): boolean {
    return some(this.#candidates(item), ({ file }) => file !== null);
  }

  claim(item: OutputItem, sha256: string): boolean {
    for (const output of this.#candidates(item)) {
      if (output.file?.sha256 !== sha256) continue;
      this.#take(output, item);
      return true;
    }
    return false;
  }

  place(item: OutputItem): Output {
    for (const output of this.#candidates(item)) {
      if (output.file !== null) continue;
      return this.#take(output, item);
    }
    return this.#add(item);
  }

  /** After all links: assigns the items without one, to outputs without a file first. */
  placeLinkless(): readonly Output[] {
    const placed: Output[] = [];
    const rest: OutputItem[] = [];
    for (const [place, item] of this.#linkless) {
      const there = this.outputs[place];
      const isListed = there !== undefined && this.#unlisted.get(there.link?.path ?? null)?.has(there) !== true;
      if (there === undefined || isListed || there.item.errorType !== item.errorType) rest.push(item);
      else placed.push(this.#take(there, item));
    }
    this.#linkless = [];
    const left = [...this.#unlisted.values()].flatMap((unlisted) => [...unlisted]);
    const free = [...left.filter((output) => !isKept(output)), ...left.filter(isKept)];
    const inOrder = [...rest.filter((item) => !isFailed(item)), ...rest.filter(isFailed)];
    for (const [index, item] of inOrder.entries()) {
      const output = free[index];
      placed.push(output === undefined ? this.#add(item) : this.#take(output, item));
    }
    return placed;
  }

  draft(item: OutputItem): Output {
    const index = this.outputs.length;
    return {
      index,
      name: this.#names.output(index, item.ext),
      item,
      link: this.#linkOf(item),
      was: undefined,
      file: null,
      atLeastBytes: null,
      contentEncoding: null,
      earlier: undefined,
      isFetchedTwice: false,
      problem: undefined,
    };
  }

  *#candidates(item: OutputItem): Generator<Output, void, undefined> {
    const link = this.#linkOf(item);
    yield* this.#unlisted.get(null) ?? [];
    if (link !== null && this.#keptPaths?.has(link.path) === true) {
      for (const output of this.#unlisted.get(link.path) ?? []) {
        if (output.link !== null && mayBeSame(output.link, link)) yield output;
      }
      return;
    }
    for (const [path, unlisted] of this.#unlisted) {
      for (const output of path === null ? [] : unlisted) {
        if (link === null || output.link === null || path !== link.path || mayBeSame(output.link, link)) yield output;
      }
    }
  }

  #linkOf(item: OutputItem): LinkIdentity | null {
    if (item.objectUrl === undefined) return null;
    const link = this.#links.get(item) ?? identifyLink(item.objectUrl, this.#key);
    this.#links.set(item, link);
    return link;
  }

  #take(output: Output, item: OutputItem): Output {
    this.#unlisted.get(output.link?.path ?? null)?.delete(output);
    output.item = item;
    output.link = this.#linkOf(item) ?? output.link;
    return output;
  }

  #add(item: OutputItem): Output {
    const output = this.draft(item);
    this.outputs.push(output);
    return output;
  }

  #addPrevious({ file, bytes, sha256, tag, link, ...previous }: Manifest['outputs'][number]): void {
    const { ext, auditStatus, errorType, costTimeMs, errorMessage } = previous;
    const item: OutputItem = {
      ext,
      auditStatus,
      errorType,
      costTimeMs: costTimeMs ?? undefined,
      errorMessage: errorMessage ?? undefined,
    };
    const { atLeastBytes = null, contentEncoding = null, fetchedTwice = false } = previous;
    this.outputs.push({
      ...this.draft(item),
      link: link === null ? null : parseLinkIdentity(link),
      was: file !== null && bytes !== null && sha256 !== null ? { bytes, sha256, tag } : undefined,
      atLeastBytes,
      contentEncoding,
      isFetchedTwice: fetchedTwice,
    });
  }
}

function isKept({ file, was }: Output): boolean {
  return file !== null || was !== undefined;
}

/** The error type marks a failed output (specification, section 2.4). */
export function isFailed({ errorType }: OutputItem): boolean {
  return errorType !== 'NOT_ERROR';
}

function some(outputs: Iterable<Output>, isSuch: (output: Output) => boolean): boolean {
  for (const output of outputs) if (isSuch(output)) return true;
  return false;
}
