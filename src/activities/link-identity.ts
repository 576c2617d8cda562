import { createHmac } from 'node:crypto';

interface Parameter {
  readonly value: string;
  /** `n`: file name; `i`: UUID; `s`: perhaps a signature; `t`: time, number or the host; `o`: another word. */
  readonly kind: 'n' | 'i' | 's' | 't' | 'o';
}

/** Recognizes the file of a link that was signed anew. Keyed hashes only: a signed link opens the file. */
export interface LinkIdentity {
  readonly path: string;
  /** Whether the path ends like a file name; `/view` does not. */
  readonly isFilePath: boolean;
  /** By the hash of the parameter's name. */
  readonly parameters: ReadonlyMap<string, Parameter>;
  readonly text: string;
}

const maxParameters = 24;
const fileName = /\.[A-Za-z][A-Za-z0-9]{1,9}$/;

/** @param key - the same for all attempts of a task. */
export function identifyLink(link: string, key: string): LinkIdentity {
  const [, host = '', path = '', query = ''] = /^[^:/?#]*:\/\/([^/?#]*)([^?#]*)\??([^#]*)/.exec(link) ?? ['', '', link];
  const hash = (text: string, digits: number): string =>
    createHmac('sha256', key).update(text).digest('hex').slice(0, digits);
  const all = query.split(/[&;]/).filter((part) => part !== '');
  const parts = [
    ...all.slice(0, maxParameters),
    ...(all.length > maxParameters ? [all.slice(maxParameters).join('&')] : []),
  ];
  const seen = new Map<string, number>();
  const parameters = [`//=${host}`, ...parts].map((part) => {
    const at = part.includes('=') ? part.indexOf('=') : part.length;
    const name = part.slice(0, at);
    const value = part.slice(at + 1);
    seen.set(name, (seen.get(name) ?? 0) + 1);
    const kind = name === '//' ? 't' : kindOf(value);
    return `${kind}${hash(`${name}#${seen.get(name)}`, 8)}${hash(`${name}=${value}`, 16)}`;
  });
  const isFilePath = fileName.test(path);
  return parseLinkIdentity([`${isFilePath ? 'f' : 'p'}${hash(path, 16)}`, ...parameters].join(' '));
}

function kindOf(value: string): Parameter['kind'] {
  if (/^(\d{1,3}|\d{9,13}|\d+[.:TZ+-][\d.:TZ+-]*)$/.test(value)) return 't';
  if (fileName.test(value)) return 'n';
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value)) return 'i';
  return value.length >= 16 ? 's' : 'o';
}

export function parseLinkIdentity(text: string): LinkIdentity {
  const [path = '', ...parts] = text.split(' ');
  const parameters = new Map(
    parts.map((part) => [part.slice(1, 9), { value: part.slice(9), kind: part.slice(0, 1) as Parameter['kind'] }]),
  );
  return { path: path.slice(1), isFilePath: path.startsWith('f'), parameters, text };
}

export function mayBeSame(one: LinkIdentity, other: LinkIdentity): boolean {
  return differences(one, other).every(({ kind }) => kind !== 'n');
}

function differences(one: LinkIdentity, other: LinkIdentity): Parameter[] {
  const of = ({ parameters }: LinkIdentity, { parameters: others }: LinkIdentity): Parameter[] =>
    [...parameters].flatMap(([name, parameter]) => (others.get(name)?.value === parameter.value ? [] : [parameter]));
  return [...of(one, other), ...of(other, one)];
}

/** Which earlier link leads to the same file as which link, by index, as far as links prove it; null: no link. */
export function matchLinks(earlier: Links, links: Links): Map<number, number> {
  const matches = new Map<number, number>();
  const groups = groupBy(placed(earlier), ({ path }) => path);
  for (const [path, now] of groupBy(placed(links), (link) => link.path)) {
    const then = groups.get(path);
    if (then !== undefined) matchPath(then, now, matches);
  }
  return matches;
}

type Links = readonly (LinkIdentity | null)[];
type Placed = readonly [place: number, link: LinkIdentity];

function placed(links: Links): Placed[] {
  return links.flatMap((link, place): Placed[] => (link === null ? [] : [[place, link]]));
}

function groupBy(links: readonly Placed[], key: (link: LinkIdentity) => string): Map<string, Placed[]> {
  const groups = new Map<string, Placed[]>();
  for (const one of links) {
    const group = groups.get(key(one[1]));
    if (group === undefined) groups.set(key(one[1]), [one]);
    else group.push(one);
  }
  return groups;
}

function matchPath(earlier: readonly Placed[], links: readonly Placed[], matches: Map<number, number>): void {
  const taken = new Set<number>();
  const match = (place: number, found: number): void => {
    matches.set(place, found);
    taken.add(found);
  };
  const equal = groupBy(earlier, ({ text }) => text);
  for (const [place, { text }] of links) {
    const found = equal.get(text)?.shift();
    if (found !== undefined) match(place, found[0]);
  }
  const telling = tellingNames(earlier, links);
  const toKey = ({ parameters }: LinkIdentity): string =>
    telling.map((name) => parameters.get(name)?.value ?? '').join(' ');
  const before = groupBy(earlier, toKey);
  for (const [key, [one, ...others]] of groupBy(links, toKey)) {
    const [found, ...rest] = before.get(key) ?? [];
    if (one === undefined || found === undefined || others.length > 0 || rest.length > 0) continue;
    const [place, link] = one;
    if (matches.has(place) || taken.has(found[0])) continue;
    const isAlone = earlier.length === 1 && links.length === 1;
    const namesFile = telling.some((name) => link.parameters.get(name)?.kind === 'n');
    const isTold = isAlone ? link.isFilePath || namesFile : telling.length > 0;
    const isSigned = differences(link, found[1]).every(({ kind }) => kind === 's' || kind === 't');
    if (isTold && isSigned) match(place, found[0]);
  }
}

/** Names of parameters with a value in both lists, except words and numbers that many files may share. */
function tellingNames(earlier: readonly Placed[], links: readonly Placed[]): string[] {
  const values = new Set<string>();
  for (const [, { parameters }] of earlier) for (const [name, { value }] of parameters) values.add(name + value);
  const telling = new Set<string>();
  for (const [, { parameters }] of links) {
    for (const [name, { value, kind }] of parameters) {
      if (kind !== 't' && kind !== 'o' && values.has(name + value)) telling.add(name);
    }
  }
  return [...telling];
}
