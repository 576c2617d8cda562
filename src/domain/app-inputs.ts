import { pickPlace, type RowPlace } from './batch/row-place';

/** The names of the inputs of rows of an app that succeeded. */
export interface AppInputs {
  /** So many rows. */
  readonly rows: number;
  /** What every one of them had. */
  readonly every: readonly string[];
  /** What any of them had. */
  readonly some: readonly string[];
}

/** More names than this are not kept; then nothing is known of the app. */
const maxNames = 200;
const maxNamesLength = 20_000;
/** Of so many apps. */
const maxApps = 20;

/** Collects the names of inputs, however many rows there are. */
export class AppInputNames {
  readonly #apps = new Map<number, AppInputs | null>();

  add(webAppId: number, names: readonly string[]): void {
    const known = this.#apps.get(webAppId);
    if (known === null || (known === undefined && this.#apps.size >= maxApps)) return;
    this.#apps.set(
      webAppId,
      joinInputs([...(known === undefined ? [] : [known]), { rows: 1, every: names, some: names }]),
    );
  }

  /** Null when there was none, or too many names. */
  get(webAppId: number): AppInputs | null {
    return this.#apps.get(webAppId) ?? null;
  }
}

/** What is known of all these rows together; null of none, and when there are too many names. */
export function joinInputs(parts: readonly AppInputs[]): AppInputs | null {
  const [first, ...others] = parts;
  if (first === undefined) return null;
  let every = first.every;
  const some = new Set(first.some);
  let { rows } = first;
  for (const part of others) {
    rows += part.rows;
    const own = new Set(part.every);
    every = every.filter((name) => own.has(name));
    for (const name of part.some) some.add(name);
  }
  const length = [...some].reduce((sum, name) => sum + name.length, 0);
  return some.size > maxNames || length > maxNamesLength ? null : { rows, every, some: [...some] };
}

/** Rows of an app with the same inputs. */
export interface InputShape extends RowPlace {
  readonly webAppId: number;
  readonly names: readonly string[];
  readonly rows: number;
}

/** Inputs by which rows differ from all earlier ones of their app that succeeded: a warning, for an app may take them. */
export interface UnusualInput extends RowPlace {
  readonly webAppId: number;
  readonly key: string;
  /** `missing`: every earlier row had it; `new`: none had it. */
  readonly kind: 'missing' | 'new';
  readonly rows: number;
  /** How many rows succeeded earlier. */
  readonly earlierRows: number;
}

const maxShapes = 100;
const maxUnusual = 20;

/** Collects which inputs rows have, however many rows there are; after a hundred kinds of rows, no further ones. */
export class InputShapes {
  readonly #shapes = new Map<string, InputShape>();

  add(webAppId: number, place: RowPlace, names: readonly string[]): void {
    const key = JSON.stringify([webAppId, ...[...names].sort()]);
    const known = this.#shapes.get(key);
    if (known !== undefined) this.#shapes.set(key, { ...known, rows: known.rows + 1 });
    else if (this.#shapes.size < maxShapes) this.#shapes.set(key, { webAppId, names, rows: 1, ...pickPlace(place) });
  }

  /** What is unusual in them, by what earlier rows had; at most twenty inputs. */
  unusual(earlier: ReadonlyMap<number, AppInputs>): readonly UnusualInput[] {
    const found = new Map<string, UnusualInput>();
    for (const { webAppId, names, rows, ...place } of this.#shapes.values()) {
      const known = earlier.get(webAppId);
      if (known === undefined) continue;
      const [own, some] = [new Set(names), new Set(known.some)];
      const missing = known.every.filter((key) => !own.has(key)).map((key) => ({ key, kind: 'missing' as const }));
      const added = names.filter((key) => !some.has(key)).map((key) => ({ key, kind: 'new' as const }));
      for (const { key, kind } of [...missing, ...added]) {
        const id = JSON.stringify([webAppId, key]);
        const before = found.get(id) ?? { webAppId, key, kind, rows: 0, ...pickPlace(place), earlierRows: known.rows };
        found.set(id, { ...before, rows: before.rows + rows });
      }
    }
    return [...found.values()].slice(0, maxUnusual);
  }
}
