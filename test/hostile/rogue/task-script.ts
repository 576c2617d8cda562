import fc from 'fast-check';
import { fieldsOf, type RogueEndpoint } from './honest-replies';
import { anyFieldChange, anyReplyChange, anyTransferChange } from './nasty';
import type { ReplyChange } from './wire-reply';

/** Which replies about one task are other than honest. */
export interface ScriptedChange {
  readonly endpoint: RogueEndpoint;
  /** The first of these requests that is answered so, from 1. */
  readonly from: number;
  /** How many are; null for all that come. */
  readonly times: number | null;
  readonly change: ReplyChange;
}

/** One task at the rogue service: what it would be at an honest one, and what is told otherwise. */
export interface TaskScript {
  readonly watch: 'timer' | 'activity';
  /** Whether an input file is uploaded first. */
  readonly hasFile: boolean;
  /** How often the task is seen in each state before it moves on. */
  readonly polls: { readonly queuing: number; readonly preparing: number; readonly running: number };
  readonly end: 'Success' | 'Failed' | 'never';
  readonly outputs: readonly number[];
  /** Whether the outputs are listed in the other order every second time. */
  readonly changesOrder: boolean;
  readonly changes: readonly ScriptedChange[];
}

/** Endpoints by how often they are chosen: a create that goes wrong ends most tasks before anything else is asked. */
const endpoints = fc.oneof(
  { weight: 1, arbitrary: fc.constant<RogueEndpoint>('create') },
  { weight: 5, arbitrary: fc.constant<RogueEndpoint>('detail') },
  { weight: 5, arbitrary: fc.constant<RogueEndpoint>('outputs') },
  { weight: 3, arbitrary: fc.constant<RogueEndpoint>('result') },
  { weight: 2, arbitrary: fc.constantFrom<RogueEndpoint[]>('cancel', 'interrupt') },
  { weight: 3, arbitrary: fc.constantFrom<RogueEndpoint[]>('token', 'commit', 'list', 'put') },
);

const scriptedChange: fc.Arbitrary<ScriptedChange> = endpoints.chain((endpoint) => {
  return fc.record({
    endpoint: fc.constant(endpoint),
    from: fc.oneof({ weight: 2, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.integer({ min: 2, max: 4 }) }),
    times: fc.oneof(
      { weight: 3, arbitrary: fc.integer({ min: 1, max: 3 }) },
      { weight: 1, arbitrary: fc.constant(null) },
    ),
    change: changeOf(endpoint),
  });
});

function changeOf(endpoint: RogueEndpoint): fc.Arbitrary<ReplyChange> {
  const paths = fieldsOf[endpoint];
  if (paths.length === 0) return anyTransferChange;
  const field = anyFieldChange(paths).map((change): ReplyChange => ({ fields: [change] }));
  return fc.oneof({ weight: 2, arbitrary: field }, { weight: 1, arbitrary: anyReplyChange(paths, 1) });
}

/** A task whose every reply field may be nasty. */
export const taskScript: fc.Arbitrary<TaskScript> = fc.record({
  watch: fc.constantFrom('timer', 'activity'),
  hasFile: fc.boolean(),
  polls: fc.record({ queuing: fc.nat({ max: 2 }), preparing: fc.nat({ max: 1 }), running: fc.nat({ max: 2 }) }),
  end: fc.oneof(
    { weight: 8, arbitrary: fc.constant('Success' as const) },
    { weight: 1, arbitrary: fc.constantFrom('Failed' as const, 'never' as const) },
  ),
  outputs: fc.array(fc.integer({ min: 0, max: 20_000 }), { minLength: 1, maxLength: 3 }),
  changesOrder: fc.nat({ max: 4 }).map((number) => number === 0),
  changes: fc.array(scriptedChange, { minLength: 2, maxLength: 5, size: 'max' }),
});
