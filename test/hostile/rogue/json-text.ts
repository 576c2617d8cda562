/**
 * One JSON value as text, possibly one that no `JSON.stringify` writes. Texts that would be too long to print are told
 * by how they are made.
 */
export type JsonToken =
  | string
  /** `open`, then `repeat` so many times, then `close`. */
  | { readonly open: string; readonly repeat: string; readonly times: number; readonly close: string }
  | { readonly nestedArrays: number };

/** Another value for one field of a reply. */
export interface FieldChange {
  /** Names and indices from the top of the body, separated by dots. A field that is not there is added. */
  readonly path: string;
  readonly token: JsonToken;
  /** Whether the key comes twice: first with the honest value, then with this one. */
  readonly twice?: true;
}

export function textOfToken(token: JsonToken): string {
  if (typeof token === 'string') return token;
  if ('nestedArrays' in token) return '['.repeat(token.nestedArrays) + ']'.repeat(token.nestedArrays);
  return `${token.open}${token.repeat.repeat(token.times)}${token.close}`;
}

/** The value as JSON with these changes. A change below something that is no object or array has no effect. */
export function writeJson(value: unknown, changes: readonly FieldChange[], path = ''): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const isArray = Array.isArray(value);
  const names = new Set([...Object.keys(value), ...changes.flatMap((change) => newNameIn(path, change))]);
  const parts = [...names].flatMap((name) => {
    const place = path === '' ? name : `${path}.${name}`;
    const prefix = isArray ? '' : `${JSON.stringify(name)}:`;
    const change = changes.find((each) => each.path === place);
    const honest = name in value ? [prefix + writeJson(Reflect.get(value, name), changes, place)] : [];
    if (change === undefined) return honest;
    return [...(change.twice === true ? honest : []), prefix + textOfToken(change.token)];
  });
  return isArray ? `[${parts.join(',')}]` : `{${parts.join(',')}}`;
}

/** The name that a change gives to the object at this path itself; not one further below. */
function newNameIn(path: string, change: FieldChange): string[] {
  const prefix = path === '' ? '' : `${path}.`;
  if (!change.path.startsWith(prefix)) return [];
  const name = change.path.slice(prefix.length);
  return name.includes('.') ? [] : [name];
}
