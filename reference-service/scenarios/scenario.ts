import { z } from 'zod';
import { REFUSALS, type RefusalName } from '../refusal';

const count = z.coerce.number('must be a number').int('must be a whole number').min(1, 'must be at least 1');
/** Node's timers fire at once beyond this. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

const durationMs = z.coerce
  .number('must be a number')
  .min(0, 'must not be negative')
  .max(LONGEST_TIMER_MS, `must be at most ${LONGEST_TIMER_MS}`);
const refusalName = z.custom<RefusalName>(
  (value) => typeof value === 'string' && Object.hasOwn(REFUSALS, value),
  `must be one of ${Object.keys(REFUSALS).join(', ')}`,
);

/** A misbehaviour of the service and its parameters. */
const scenarioSchema = z.discriminatedUnion(
  'name',
  [
    /** Closes the connection before anything is done. */
    z.strictObject({ name: z.literal('drop-request') }),
    /** Does nothing but say no. */
    z.strictObject({
      name: z.literal('refuse'),
      reason: refusalName.default('rateLimited'),
      retryAfterSeconds: z.coerce.number('must be a number').int().min(0).optional(),
    }),
    /** Carries the request out and closes the connection without an answer. */
    z.strictObject({ name: z.literal('drop-reply') }),
    /** Carries the request out and answers an error all the same. */
    z.strictObject({
      name: z.literal('answer-error'),
      status: z.coerce.number('must be a number').int().min(400).max(599).default(500),
    }),
    /** Carries the request out and answers late; without `ms`, when the service stops. */
    z.strictObject({ name: z.literal('stall'), ms: durationMs.optional() }),
    /** Carries the request out and closes the connection in the middle of the body. */
    z.strictObject({ name: z.literal('cut-body') }),
    /** Carries the request out and answers with its usual status and something else. */
    z.strictObject({ name: z.literal('rubbish'), as: z.enum(['html', 'json', 'empty']).default('html') }),
    /** Detail: shows a status that the specification does not know. */
    z.strictObject({ name: z.literal('odd-status'), value: z.string().default('Archiving') }),
    /** Outputs: a success without its files. */
    z.strictObject({ name: z.literal('no-outputs') }),
    /** Outputs, list, commit: links that have expired. */
    z.strictObject({ name: z.literal('expired-links') }),
    /** Upload token: credentials that have expired. */
    z.strictObject({ name: z.literal('expired-credentials') }),
    /** Create: the task stays in the queue; without `ms`, until it is released or canceled. */
    z.strictObject({ name: z.literal('hold'), ms: durationMs.optional() }),
    /** Create: the task fails when it runs. */
    z.strictObject({ name: z.literal('fail'), message: z.string().default('failed on command') }),
    /** Create: the first `count` attempts to call back never leave; without it, none ever does. */
    z.strictObject({ name: z.literal('lose-callbacks'), count: count.optional() }),
    /** Create: the callback comes `count` times more, although it was answered. */
    z.strictObject({ name: z.literal('repeat-callbacks'), count: count.default(1) }),
  ],
  { error: 'is not a scenario' },
);

/** A misbehaviour of the service, by name, with its parameters. */
export type Scenario = z.output<typeof scenarioSchema>;

/** The names of all scenarios. */
export type ScenarioName = Scenario['name'];

/** A scenario as it is given, its parameters as numbers or texts. */
export type ScenarioInput = z.input<typeof scenarioSchema>;

/** The scenario of that name among `scenarios`, if there is one. */
export function findScenario<Name extends ScenarioName>(
  scenarios: readonly Scenario[],
  name: Name,
): Extract<Scenario, { name: Name }> | undefined {
  return scenarios.find((scenario): scenario is Extract<Scenario, { name: Name }> => scenario.name === name);
}

/** Checks a scenario's name and parameters. Throws an Error that names what is wrong. */
export function parseScenario(input: unknown): Scenario {
  const parsed = scenarioSchema.safeParse(input);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new Error(`scenario: ${issue?.path.join('.') ?? ''} ${issue?.message ?? 'is wrong'}`);
}
