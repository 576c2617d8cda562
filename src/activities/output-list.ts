import { redactUrl } from '../domain/uri';
import type { PreviousManifest } from '../formats/manifest';
import type { OutputItem } from '../service';
import type { Output } from './manifest';
import type { OutputNames } from './output-names';

/**
 * The outputs of a task over all lists of them: those of an earlier attempt's manifest, and of each answer of the
 * service. Lists may grow, shrink or come in another order; an output keeps its place, and so its name.
 */
export class OutputList {
  readonly outputs: Output[] = [];
  readonly #names: OutputNames;

  constructor(names: OutputNames, previous: PreviousManifest['outputs']) {
    this.#names = names;
    for (const output of previous) this.#addPrevious(output);
  }

  /**
   * Takes in what the service lists now. Outputs are distinguished by the paths of their links, for queries hold signatures;
   * by their places where there is no link, and where no path is one of the paths known so far.
   */
  update(items: readonly OutputItem[]): void {
    const unlisted = new Set(this.outputs);
    const rest = this.#takeByPath(items, unlisted);
    const arePathsKept = rest.length < items.length;
    const pathless = pathlessIn(this.outputs, unlisted);
    for (const [place, item] of rest) {
      const there = this.outputs[place];
      const mayBeThere = !arePathsKept || there?.path === null || item.objectUrl === undefined;
      const isThere = there !== undefined && unlisted.has(there) && mayBeThere;
      const found = isThere ? there : pathless.next().value;
      if (found === undefined) this.#add(item);
      else take(found, item, unlisted);
    }
    for (const output of unlisted) output.item = withoutLink(output.item);
  }

  #takeByPath(items: readonly OutputItem[], unlisted: Set<Output>): (readonly [number, OutputItem])[] {
    const byPath = new Map<string, Output[]>();
    for (const output of this.outputs) {
      if (output.path === null) continue;
      const same = byPath.get(output.path) ?? [];
      byPath.set(output.path, same);
      same.push(output);
    }
    return [...items.entries()].filter(([, item]) => {
      const path = pathOf(item.objectUrl);
      const found = path === null ? undefined : byPath.get(path)?.shift();
      if (found !== undefined) take(found, item, unlisted);
      return found === undefined;
    });
  }

  #add(
    item: OutputItem,
    previous: Partial<Pick<Output, 'path' | 'was' | 'atLeastBytes' | 'contentEncoding'>> = {},
  ): void {
    const index = this.outputs.length;
    const name = this.#names.output(index, item.ext);
    this.outputs.push({
      ...{ index, name, item, path: pathOf(item.objectUrl), was: undefined, file: null },
      ...{ atLeastBytes: null, contentEncoding: null, problem: undefined },
      ...previous,
    });
  }

  #addPrevious({ file, bytes, sha256, url, ...previous }: PreviousManifest['outputs'][number]): void {
    const { ext, auditStatus, errorType, costTimeMs, errorMessage } = previous;
    const item: OutputItem = {
      ...{ ext, auditStatus, errorType },
      ...(costTimeMs != null && { costTimeMs }),
      ...(errorMessage != null && { errorMessage }),
    };
    const was = file !== null && bytes !== null && sha256 !== null ? { bytes, sha256 } : undefined;
    const { atLeastBytes = null, contentEncoding = null } = previous;
    this.#add(item, { path: pathOf(url ?? undefined), was, atLeastBytes, contentEncoding });
  }
}

/** Gone through once for all items: thousands of them may be new. */
function* pathlessIn(outputs: readonly Output[], unlisted: ReadonlySet<Output>): Generator<Output, undefined> {
  for (const output of outputs) if (output.path === null && unlisted.has(output)) yield output;
}

function take(output: Output, item: OutputItem, unlisted: Set<Output>): void {
  unlisted.delete(output);
  output.item = item;
  output.path = pathOf(item.objectUrl) ?? output.path;
}

function withoutLink(item: OutputItem): OutputItem {
  const rest: { -readonly [Name in keyof OutputItem]: OutputItem[Name] } = { ...item };
  delete rest.objectUrl;
  return rest;
}

/** Without the host, too: a storage may have several names. */
function pathOf(link: string | undefined): string | null {
  return link === undefined ? null : redactUrl(link).replace(/^[a-z][a-z0-9+.-]{0,30}:\/\/[^/]*/i, '');
}
