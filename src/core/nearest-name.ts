import { showValue } from './text';

const defaultMaxDistance = 6;
const maxDifferentPart = 0.6;
/** A longer text is no name that somebody mistyped. */
const maxNameLength = 80;
/** More are rubbish; to look for what each of 30,000 meant would keep a workflow for half a second. */
const maxSuggestions = 40;

/** The known name that is most like another one. All begin with `shared` letters; at most `maxDistance` may differ. */
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

/** `where` is such as `deadlines.`. */
export function unknownNameProblems(
  kind: 'field' | 'option',
  names: readonly string[],
  known: readonly string[],
  where = '',
): string[] {
  const unknown = names.filter((name) => !known.includes(name));
  const areKnown = `are ${known.join(', ')}.`;
  return unknown.map((name, index) => {
    const nearest = index < maxSuggestions ? nearestName(name, known) : undefined;
    const question = nearest === undefined ? '; known' : `; did you mean ${nearest}? Known`;
    // A name that a person may have written stands as it is; any other is shortened.
    const shown = where !== '' && /^\w{1,80}$/.test(name) ? name : showValue(name);
    return `Unknown ${kind} ${where}${shown}${question} ${areKnown}`;
  });
}

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
