import { messageRefused } from '../failures';

/** What can be decided about a parked task: by a person, or `adopt` by a callback that the service confirms. */
export type Decision =
  | { readonly kind: 'adopt'; readonly requestId: string }
  | { readonly kind: 'recreate' }
  | { readonly kind: 'abandon' }
  | { readonly kind: 'rearchive' };

/** Decisions about a create whose outcome is unknown. */
export const uncertainDecisions = ['adopt', 'recreate', 'abandon'] as const;

/** What is decided about an archive that misses outputs. */
export const incompleteDecisions = ['rearchive', 'abandon'] as const;

/** Where a parked task waits for a decision: it says which ones it takes, update handlers put one down. */
export class PendingDecision {
  #awaited: readonly Decision['kind'][] = [];
  #taken: Decision | undefined;

  /** Opens the desk for these kinds of decision. */
  open(kinds: readonly Decision['kind'][]): void {
    this.#awaited = kinds;
    this.#taken = undefined;
  }

  /** Closes it and hands out the decision, if one came. */
  close(): Decision | undefined {
    const taken = this.#taken;
    this.#awaited = [];
    this.#taken = undefined;
    return taken;
  }

  get isOpen(): boolean {
    return this.#awaited.length > 0;
  }

  get hasDecision(): boolean {
    return this.#taken !== undefined;
  }

  /** Throws, in words for the person who asked, when this decision is not awaited now. */
  check(kind: Decision['kind']): void {
    if (this.#awaited.includes(kind) && this.#taken === undefined) return;
    const now =
      this.#awaited.length === 0 ? 'The task waits for no decision now' : `It waits for ${this.#awaited.join(', ')}`;
    const reason = this.#taken === undefined ? now : 'A decision was taken already';
    throw messageRefused(`"${kind}" does not apply: ${reason}.`);
  }

  take(decision: Decision): void {
    this.check(decision.kind);
    this.#taken = decision;
  }
}
