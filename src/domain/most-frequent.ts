/** Counts by name, the largest first. */
export function mostFrequent(counts: Readonly<Record<string, number>>): [name: string, count: number][] {
  return Object.entries(counts).sort(([, one], [, other]) => other - one);
}
