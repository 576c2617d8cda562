import fc from 'fast-check';

/** Seed of everything that this run generates: `SEED` of the environment, or a new one. */
export const fuzzSeed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 0x7fffffff));

/**
 * Has fast-check generate from {@link fuzzSeed} in this file. A failed property tells its seed and path; with both in the
 * environment (`SEED=… SEED_PATH=… npm run test:… -- -t '…'`) the same case is the first to run.
 */
export function useFuzzSeed(): void {
  const path = process.env['SEED_PATH'];
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: fuzzSeed, ...(path !== undefined && { path }) });
}
