import type { ClientContext } from './client-context';
import type { ServiceContext } from './service-context';
import type { Verdict } from './verdict';

/** What a clause needs beyond a base URL and a key; where it is missing, the clause is not checkable. */
export type Need =
  /** A task, which costs money: nothing is ever sent to create without it. */
  | 'paid'
  /** Leave to upload small files. */
  | 'upload'
  /** An app that fails, runs long, or loads an uploaded file. */
  | 'failingApp'
  | 'slowApp'
  | 'inputFile'
  | 'callbackReceiver'
  | 'otherBucket'
  /** Lifetimes that the specification does not show, but that this service is known to have. */
  | 'linkLifetime'
  | 'credentialLifetime';

/** One checkable statement of the specification. */
export interface Clause {
  /** As the specification counts, such as `4.2`. */
  readonly section: string;
  readonly statement: string;
  /** @default paid: what does not say so may cost money */
  readonly needs?: readonly Need[];
  /** Looks at the service by plain HTTP. Absent where the statement binds only clients. */
  readonly check?: (service: ServiceContext) => Promise<Verdict>;
  /** The same statement through the project's own client. Absent where the client has no part in it. */
  readonly checkThroughClient?: (client: ClientContext) => Promise<Verdict>;
}

/** A clause whose section is said elsewhere. */
export type Statement = Omit<Clause, 'section'>;

/** A statement that no program can check from outside, with the reason. */
export interface UncheckableStatement {
  readonly section: string;
  readonly statement: string;
  readonly why: string;
}

/** Something that the specification leaves open ("not shown"), with this project's decision. */
export interface OpenPoint {
  readonly section: string;
  readonly question: string;
  readonly decision: string;
  /** @default paid */
  readonly needs?: readonly Need[];
  /** What the service does, in a few words; absent where it cannot be seen from outside. */
  readonly observe?: (service: ServiceContext) => Promise<string>;
  /** What `observe` finds at a service that does as decided. */
  readonly decided?: string;
}

export function inSection(section: string, ...statements: readonly Statement[]): readonly Clause[] {
  return statements.map((statement) => ({ section, ...statement }));
}

export function titleOf({ section, statement }: Pick<Clause, 'section' | 'statement'>): string {
  return `§${section} ${statement}`;
}
