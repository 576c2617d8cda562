/**
 * `open`: creates go through. `closed`: none does until a moment. `probing`: that moment has passed, and one create at a
 * time finds out whether the service takes them again.
 */
export type GateState = 'open' | 'closed' | 'probing';

/** A gate as people look at it. */
export interface GateView {
  readonly state: GateState;
  /** ISO-8601: until when it is closed; null when it is not. */
  readonly closedUntil: string | null;
  /** Why it is not open, in words; null when it is. */
  readonly reason: string | null;
  /** How many tasks were told to come back. */
  readonly waiting: number;
  /** How many creates went through and have not reported back. */
  readonly unanswered: number;
  /** How many of these there may be now. */
  readonly atOnce: number;
}

/** What a gate tells when it closes or opens: once each, however many tasks wait. */
export type GateListener = (change: 'closed' | 'still closed' | 'opened', gate: GateView) => void;
