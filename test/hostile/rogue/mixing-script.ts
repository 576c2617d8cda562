import fc from 'fast-check';

/**
 * How a create is answered: taken; taken, and the reply is lost; refused for the account or for now; refused by a page of
 * what stands before the service; refused in the form of an acceptance, with an id that names no task.
 */
export type CreateAnswer = 'taken' | 'lost' | 'no balance' | 'too many' | 'page' | 'refused with an id';

/** One key at a service that mixes things up, yet makes every output that it was paid for. */
export interface MixingScript {
  readonly watch: 'timer' | 'activity';
  /** How the creates of the key are answered, in their order; those after them are taken. */
  readonly creates: readonly CreateAnswer[];
  /** Whether the first task of the key fails, so that the key is started again. */
  readonly failsFirst: boolean;
  /** Polls until a task ends; without any, a second. */
  readonly polls: number;
  readonly outputs: number;
  /** What names a file in its link: the path, or the query beside a signature that is new in every list. */
  readonly linksBy: 'path' | 'query';
  readonly order: 'same' | 'turned' | 'random';
  /** Which words the states have; those of `details` nobody knows, and lists of outputs do not have them. */
  readonly words: 'specification' | 'past' | 'capitals' | 'details';
  /** Whether a create is answered with the id of a task that was archived before. */
  readonly reusesId: boolean;
  /** How often each output is answered with this before its file comes. */
  readonly badFiles: { readonly kind: 'page' | 'nothing' | 'half' | 'other file'; readonly times: number };
  /** So many details are those of another task, which they name. */
  readonly foreignDetails: number;
  /** How often a task's end is called back; `late` ones come again when the next task of the key was created. */
  readonly callbacks: { readonly times: number; readonly isLate: boolean };
}

const answers = fc.oneof(
  { weight: 4, arbitrary: fc.constant<CreateAnswer>('taken') },
  { weight: 4, arbitrary: fc.constant<CreateAnswer>('lost') },
  {
    weight: 1,
    arbitrary: fc.constantFrom<CreateAnswer[]>('no balance', 'too many', 'page', 'refused with an id'),
  },
);

/** Two halves without a proof of their end are equal, and no client can know better. */
function oneHalf(bad: MixingScript['badFiles']): MixingScript['badFiles'] {
  return bad.kind === 'half' ? { ...bad, times: Math.min(1, bad.times) } : bad;
}

export const mixingScript: fc.Arbitrary<MixingScript> = fc.record({
  watch: fc.constantFrom('timer', 'activity'),
  creates: fc.array(answers, { maxLength: 3 }),
  failsFirst: fc.boolean(),
  polls: fc.nat({ max: 2 }),
  outputs: fc.integer({ min: 1, max: 3 }),
  linksBy: fc.constantFrom('path', 'query'),
  order: fc.constantFrom('same', 'turned', 'random'),
  words: fc.constantFrom('specification', 'specification', 'past', 'capitals', 'details'),
  reusesId: fc.nat({ max: 4 }).map((number) => number === 0),
  badFiles: fc
    .record({ kind: fc.constantFrom('page', 'nothing', 'half', 'other file'), times: fc.nat({ max: 2 }) })
    .map(oneHalf),
  foreignDetails: fc.nat({ max: 2 }),
  callbacks: fc.record({ times: fc.nat({ max: 3 }), isLate: fc.boolean() }),
});
