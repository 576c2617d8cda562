import fc from 'fast-check';

/** Faults of processes and what they stand on: one after the other, for each needs the others to be there. */
const heavyFaults = ['workerKilled', 'workerStopped', 'temporalKilled', 'receiverKilled', 'archiveAway'] as const;

/** Faults of what the service answers, and an operator's slips: at any moment, whatever the tasks run on. */
export const plainFaults = [
  'repliesLost',
  'answered500',
  'refused429',
  'answeredRubbish',
  'credentialsExpired',
  'linksExpired',
  'workflowTerminated',
  'workflowReset',
] as const;

/** Faults of requests, too: at any moment. */
const lightFaults = [
  ...plainFaults,
  'serviceDown',
  'connectionsReset',
  'requestsReset',
  'storage503',
  'uploadsReset',
  'downloadsCut',
] as const;

/** One of {@link plainFaults}. */
export type PlainFaultName = (typeof plainFaults)[number];

/** What can go wrong. */
export type SoakFaultName = (typeof heavyFaults)[number] | (typeof lightFaults)[number];

/** One fault of the plan. */
export interface SoakFault<Name extends string = SoakFaultName> {
  readonly name: Name;
  /** After the fault before it has ended. */
  readonly afterMs: number;
  /** How long something is away. */
  readonly forMs: number;
  /** How many requests it meets. */
  readonly times: number;
  /** Which task, or which endpoint, by a number that wraps around. */
  readonly victim: number;
}

/** One task of the plan. */
export interface SoakTask {
  readonly startAtMs: number;
  readonly watch: 'timer' | 'activity';
  /** How long the service keeps it in its queue. */
  readonly heldMs: number;
  /** When somebody asks to stop it, after its start; null for most. */
  readonly stopAfterMs: number | null;
}

/** Everything that chance decides, decided beforehand. */
export interface SoakPlan<Name extends string = SoakFaultName> {
  readonly seed: number;
  readonly tasks: readonly SoakTask[];
  readonly heavy: readonly SoakFault<Name>[];
  readonly light: readonly SoakFault<Name>[];
}

/** How large a soak is. */
export interface SoakSize {
  readonly seed: number;
  readonly tasks: number;
  /** For so long tasks are started and faults happen; then everything is given time to end. */
  readonly forMs: number;
}

/** Which faults happen, and how long after the one before. */
export interface SoakFaults<Name extends string> {
  readonly heavy: { readonly names: readonly Name[]; readonly gapMs: readonly [number, number] };
  readonly light: { readonly names: readonly Name[]; readonly gapMs: readonly [number, number] };
}

/** Those that a stack of faults can have. */
export const soakFaults: SoakFaults<SoakFaultName> = {
  heavy: { names: heavyFaults, gapMs: [2_000, 6_000] },
  light: { names: lightFaults, gapMs: [500, 2_500] },
};

/** The plan of a seed: the same for the same size and faults. */
export function planSoak<Name extends string = SoakFaultName>(
  { seed, tasks, forMs }: SoakSize,
  faults: SoakFaults<Name>,
): SoakPlan<Name> {
  const task = fc.record({
    startAtMs: fc.integer({ min: 0, max: Math.round(forMs * 0.8) }),
    watch: fc.constantFrom('timer', 'activity'),
    heldMs: fc.integer({ min: 1, max: 5_000 }),
    stopAfterMs: fc.oneof(
      { weight: 9, arbitrary: fc.constant(null) },
      { weight: 1, arbitrary: fc.integer({ min: 0, max: 6_000 }) },
    ),
  });
  const fault = ({ names, gapMs }: SoakFaults<Name>['heavy']): fc.Arbitrary<SoakFault<Name>> =>
    fc.record({
      name: fc.constantFrom(...names),
      afterMs: fc.integer({ min: gapMs[0], max: gapMs[1] }),
      forMs: fc.integer({ min: 300, max: 3_000 }),
      times: fc.integer({ min: 1, max: 6 }),
      victim: fc.nat({ max: 10_000 }),
    });
  const many = <T>(one: fc.Arbitrary<T>, count: number, stream: number): T[] =>
    fc.sample(fc.noBias(one), { seed: seed + stream, numRuns: count });
  return {
    seed,
    tasks: many(task, tasks, 0),
    // More than fit into the time; the last ones do not happen.
    heavy: many(fault(faults.heavy), Math.ceil(forMs / faults.heavy.gapMs[0]), 1),
    light: many(fault(faults.light), Math.ceil(forMs / faults.light.gapMs[0]), 2),
  };
}
