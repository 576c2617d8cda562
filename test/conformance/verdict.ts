/** What looking at one clause came to. `seen` and `why` hold no secret once `checkClause` has passed them on. */
export type Verdict =
  | { readonly outcome: 'holds' }
  | { readonly outcome: 'does not hold'; readonly seen: string }
  | { readonly outcome: 'not checkable'; readonly why: string };

/** Thrown when a check cannot begin, because something before it went wrong that another clause is about. */
export class NotCheckable extends Error {}

export const holds: Verdict = { outcome: 'holds' };

export function doesNotHold(seen: string): Verdict {
  return { outcome: 'does not hold', seen };
}

/** `holds` if `isTrue`, else `doesNotHold`; `seen` is what to say then. */
export function holdsIf(isTrue: boolean, seen: string): Verdict {
  return isTrue ? holds : doesNotHold(seen);
}

/** The first verdict that is not `holds`, if there is one. */
export function allHold(verdicts: readonly Verdict[]): Verdict {
  return verdicts.find(({ outcome }) => outcome !== 'holds') ?? holds;
}
