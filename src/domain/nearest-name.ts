import { showValue } from './text';

/** The largest distance at which a name is suggested. */
const defaultMaxDistance = 6;
/** The largest distance in relation to the length of the name. */
const maxDifferentPart = 0.6;
/** A longer text is no name that somebody mistyped. */
const maxNameLength = 80;

/**
 * The known name that is most like another one; undefined when none is like it.
 *
 * @param shared - how many letters all names begin with.
 * @param maxDistance - how many letters may differ.
 */
export function nearestName(
  name: string,
  names: readonly string[],
  shared = 0,
  maxDistance = defaultMaxDistance,
): string | undefined {
  if (name.length > maxNameLength) return undefined;
  const ranked = names
    .map((known) => ({ known, distance: editDistance(name, known) }))
    .sort((a, b) => a.distance - b.distance);
  const [best] = ranked;
  if (best === undefined || best.distance > maxDistance) return undefined;
  const letters = Math.max(name.length, best.known.length) - shared;
  return best.distance <= letters * maxDifferentPart ? best.known : undefined;
}

/** The problem of each of these fields or options that is not known, with the name that was probably meant. */
export function unknownNameProblems(
  kind: 'field' | 'option',
  names: readonly string[],
  known: readonly string[],
): string[] {
  return names.filter((name) => !known.includes(name)).map((name) => unknownNameProblem(kind, name, known));
}

/** The problem of a field or option that is not known, with the name that was probably meant. */
export function unknownNameProblem(kind: 'field' | 'option', name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  const question = nearest === undefined ? '; known' : `; did you mean ${nearest}? Known`;
  return `Unknown ${kind} ${showValue(name)}${question} are ${known.join(', ')}.`;
}

/** Levenshtein's distance: how many letters to insert, remove or change. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 0; i < from.length; i += 1) {
    const next = [i + 1];
    for (let j = 0; j < to.length; j += 1) {
      const change = (row[j] ?? 0) + (from[i] === to[j] ? 0 : 1);
      next.push(Math.min(change, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
