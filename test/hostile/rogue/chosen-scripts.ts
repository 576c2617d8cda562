import fc from 'fast-check';
import { fuzzSeed } from '../../support/fuzz-seed';

/** How many of them, by `TASKS`. */
export const wanted = Number(process.env['TASKS'] ?? 60);
const only = process.env['TASK'];
const script = process.env['SCRIPT'];

/** So many scripts; or one alone, by its number in a run of the same seed, or as it is given. */
export function chosenScripts<Script>(any: fc.Arbitrary<Script>): readonly Script[] {
  if (script !== undefined) return [JSON.parse(script) as Script];
  if (only === undefined) return fc.sample(any, { seed: fuzzSeed, numRuns: wanted });
  return fc.sample(any, { seed: fuzzSeed, numRuns: Number(only) + 1 }).slice(-1);
}

/** What runs one script of this suite again. */
export function commandFor(suite: string, number: number): string {
  return `SEED=${fuzzSeed} TASK=${only ?? number} npm run test:hostile -- ${suite}`;
}
