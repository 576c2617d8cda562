import { variableNames } from './variables';

const prefix = 'LONGHAUL_';
/** Names that are not the worker's or the command line's: the tool cache of development, and the tests' own. */
const foreignNames = /^LONGHAUL_(TOOLS$|TEST_)/;
/** Further apart than this, two names have nothing to do with each other. */
const maxDistance = 6;
/** Nor have two short names of which most letters differ. */
const maxDifferentPart = 0.6;

/** A warning for every `LONGHAUL_*` variable that nobody reads, with the nearest name that somebody does. */
export function unknownVariableWarnings(env: NodeJS.ProcessEnv): string[] {
  return Object.keys(env)
    .filter((name) => name.startsWith(prefix) && !foreignNames.test(name) && !isKnown(name))
    .sort()
    .map((name) => {
      const nearest = nearestKnown(name);
      return `Unknown variable ${name} is ignored${nearest === undefined ? '' : `; did you mean ${nearest}?`}`;
    });
}

function isKnown(name: string): boolean {
  return variableNames.some((known) => known === name);
}

function nearestKnown(name: string): string | undefined {
  const ranked = variableNames
    .map((known) => ({ known, distance: editDistance(name, known) }))
    .sort((a, b) => a.distance - b.distance);
  const [best] = ranked;
  if (best === undefined || best.distance > maxDistance) return undefined;
  const letters = Math.max(name.length, best.known.length) - prefix.length;
  return best.distance <= letters * maxDifferentPart ? best.known : undefined;
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
