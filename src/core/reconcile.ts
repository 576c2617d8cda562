import { isTerminal, parseServiceStatus } from './task-state';
import { formatMoment } from './time';

/** What the service says of a task; times in epoch milliseconds, null where the service does not tell. */
export type ServiceFacts =
  | {
      readonly says: 'task';
      readonly status: string;
      readonly createdAtMs: number | null;
      readonly expiresAtMs: number | null;
    }
  | { readonly says: 'unknown' }
  | { readonly says: 'gone' }
  | {
      readonly says: 'nothing';
      readonly words: string;
      /** The account whose API key is refused, or cannot be read; absent where that is not why. */
      readonly refusedKeyOf?: string;
    };

export interface ArchiveFacts {
  /** The folder inside the archive that the task was archived into; `''` is its top. */
  readonly folder: string;
  /** What is wrong with its files, in words; none: everything that the manifest names is there. */
  readonly problems: readonly string[];
}

export interface TaskFacts {
  readonly requestId: string;
  readonly account: string | null;
  /** The workflow that created or followed it last; null when only a list or a manifest names it. */
  readonly workflowId: string | null;
  /** How that workflow ended, as `LonghaulStatus` had it; null while it runs or when Temporal does not know it. */
  readonly lastStatus: string | null;
  /** How many runs of workflows ended because the service reports its success and has no output. */
  readonly endsWithoutOutputs: number;
  readonly follower: { readonly workflowId: string; readonly status: string } | null;
  readonly archived: ArchiveFacts | null;
  readonly atService: ServiceFacts | null;
}

export interface UncertainFacts {
  readonly workflowId: string;
  readonly createNumber: number;
  readonly sentAtMs: number | null;
  /** Whether a later create of the same workflow was allowed, which accepts that both may be paid. */
  readonly isSuperseded: boolean;
  /** `LonghaulStatus` of the workflow while it is open; null when it is over or gone. */
  readonly openStatus: string | null;
}

export type SafeReason =
  | 'followed'
  /** Its manifest is there, and every file that it names. */
  | 'archived'
  /** It ended as `Failed` or `Canceled`, or twice as `SuccessNoOutputs`: there is no result. */
  | 'nothingToSave'
  /** A later create was allowed in its place, by a person or a policy. */
  | 'superseded';

export type Remedy =
  | { readonly do: 'adopt'; readonly requestId: string; readonly account: string | null; readonly folder: string }
  | { readonly do: 'rearchive'; readonly workflowId: string }
  /** Tells the parked workflow; a null request id is for the person to fill in. */
  | { readonly do: 'resolveAdopt'; readonly workflowId: string; readonly requestId: string | null }
  | { readonly do: 'resolveRecreate'; readonly workflowId: string }
  | { readonly do: 'resolveAbandon'; readonly workflowId: string }
  /** Writes into the create record which task it made; a null request id is for the person to fill in. */
  | {
      readonly do: 'settle';
      readonly workflowId: string;
      readonly createNumber: number;
      readonly requestId: string | null;
    }
  | { readonly do: 'settleNone'; readonly workflowId: string; readonly createNumber: number };

/** The kinds of findings, the most pressing first. */
export const findingKinds = [
  /** It runs at the service, is paid for, and no workflow follows it. */
  'running',
  /** It succeeded, and its result is only at the service. */
  'notArchived',
  /** It was archived, and files of it are missing or not what they were. */
  'damaged',
  'archiveIncomplete',
  'unanswered',
  'uncertain',
  /** A list names it, and the service does not know it. */
  'unknownId',
  'lost',
] as const;

export type FindingKind = (typeof findingKinds)[number];

/** Something that was paid for, or may have been, and is not safe. */
export interface Finding {
  readonly kind: FindingKind;
  readonly requestId: string | null;
  readonly workflowId: string | null;
  readonly account: string | null;
  readonly reason: string;
  /** One of them makes it safe; none where nothing can. */
  readonly remedies: readonly Remedy[];
}

export type Verdict = { readonly safe: SafeReason } | { readonly finding: Finding };

export function dependsOnService(facts: TaskFacts): boolean {
  const { follower, archived } = facts;
  if (follower !== null) return false;
  return archived === null ? !hasNothingToSave(facts) : archived.problems.length > 0;
}

/** Its workflows have found out that there is no result. An adopted one has asked for the outputs once more. */
function hasNothingToSave({ lastStatus, endsWithoutOutputs }: TaskFacts): boolean {
  return lastStatus === 'Canceled' || endsWithoutOutputs > 1;
}

export function judgeTask(facts: TaskFacts, nowMs: number): Verdict {
  const { follower, archived } = facts;
  if (follower?.status === 'ArchiveIncomplete') {
    const reason = `${follower.workflowId} could not archive everything, and waits for a person.`;
    const { workflowId } = follower;
    return { finding: finding(facts, 'archiveIncomplete', reason, [{ do: 'rearchive', workflowId }]) };
  }
  if (follower !== null) return { safe: 'followed' };
  if (archived !== null && archived.problems.length === 0) return { safe: 'archived' };
  if (archived === null && hasNothingToSave(facts)) return { safe: 'nothingToSave' };
  return judgeByService(facts, nowMs);
}

function judgeByService(facts: TaskFacts, nowMs: number): Verdict {
  const { atService, archived, requestId, account } = facts;
  const adopt: Remedy = { do: 'adopt', requestId, account, folder: archived?.folder ?? '' };
  const damage = archived === null ? undefined : `In the archive: ${archived.problems.join('; ')}.`;
  const found = (kind: FindingKind, words: string, remedies: readonly Remedy[]): Verdict => {
    return { finding: finding(facts, kind, [damage, words].filter(Boolean).join(' '), remedies) };
  };
  switch (atService?.says) {
    case undefined:
      return found('unanswered', 'The service was not asked about it.', [adopt]);
    case 'nothing': {
      const { words, refusedKeyOf } = atService;
      const first =
        refusedKeyOf === undefined
          ? 'Compare again once it does.'
          : `First correct the API key of the account "${refusedKeyOf}", for this command and for the workers (LONGHAUL_API_KEY, LONGHAUL_API_KEY_FILE or LONGHAUL_ACCOUNTS_FILE); then compare again.`;
      // An adoption would be refused in the same way as the key.
      const remedies = refusedKeyOf === undefined ? [adopt] : [];
      return found('unanswered', `The service did not say how it is: ${words}. ${first}`, remedies);
    }
    case 'gone':
      return found('lost', 'The service has deleted it; a result that is not in the archive is lost.', []);
    case 'unknown':
      return facts.workflowId === null && archived === null
        ? found('unknownId', 'The service does not know this request id; check it, and the account.', [])
        : found('lost', 'The service does not know it any more; a result that is not in the archive is lost.', []);
    case 'task':
      break;
  }
  const status = parseServiceStatus(atService.status);
  if (!isTerminal(status)) {
    return found('running', `It is ${atService.status} at the service, is paid for, and no workflow follows it.`, [
      adopt,
    ]);
  }
  if (archived === null && status !== 'Success') return { safe: 'nothingToSave' };
  const until = formatUntil(atService.expiresAtMs, nowMs);
  return archived === null
    ? found('notArchived', `It succeeded, and its result is only at the service${until}.`, [adopt])
    : found('damaged', `The service still has it${until}.`, [adopt]);
}

export interface Candidate {
  readonly requestId: string;
  readonly createdAtMs: number;
}

/** The service's clock may be behind ours, and it may take its time to create a task. */
const earliestMs = -60_000;
const latestMs = 15 * 60_000;
/** A service that was held up may create it when it recovers; such a task is only proposed to a person. */
const latestOfCandidateMs = 24 * 60 * 60_000;
const maxCandidates = 3;

export function isCreatedAbout(createdAtMs: number, sentAtMs: number, withinMs = latestMs): boolean {
  return createdAtMs - sentAtMs >= earliestMs && createdAtMs - sentAtMs <= withinMs;
}

function candidatesFor({ sentAtMs }: UncertainFacts, candidates: readonly Candidate[]): readonly Candidate[] {
  if (sentAtMs === null) return [];
  const distance = ({ createdAtMs }: Candidate): number => Math.abs(createdAtMs - sentAtMs);
  return candidates
    .filter(({ createdAtMs }) => isCreatedAbout(createdAtMs, sentAtMs, latestOfCandidateMs))
    .sort((one, other) => distance(one) - distance(other))
    .slice(0, maxCandidates);
}

export function judgeUncertain(facts: UncertainFacts, candidates: readonly Candidate[]): Verdict {
  const { workflowId, createNumber, sentAtMs, isSuperseded, openStatus } = facts;
  if (openStatus !== null && openStatus !== 'CreateUncertain') return { safe: 'followed' };
  if (isSuperseded) return { safe: 'superseded' };
  const near = candidatesFor(facts, candidates).map(({ requestId }) => requestId);
  const ids = near.length === 0 ? [null] : near;
  const when = sentAtMs === null ? '' : ` at ${formatMoment(sentAtMs)}`;
  const like = near.length === 0 ? '' : ' The list names a task that may be it and is not known here.';
  const words = `Create ${createNumber} was sent${when}, and it is not known whether it made a task: look in the service’s own list, for one of that time or later, once the service answers as it should.${like}`;
  const about = { requestId: null, workflowId, account: null };
  if (openStatus === null) {
    const settle = ids.map((requestId): Remedy => ({ do: 'settle', workflowId, createNumber, requestId }));
    const remedies: readonly Remedy[] = [...settle, { do: 'settleNone', workflowId, createNumber }];
    return { finding: finding(about, 'uncertain', `${words} Its workflow is over.`, remedies) };
  }
  const adopt = ids.map((requestId): Remedy => ({ do: 'resolveAdopt', workflowId, requestId }));
  const remedies: readonly Remedy[] = [
    ...adopt,
    { do: 'resolveRecreate', workflowId },
    { do: 'resolveAbandon', workflowId },
  ];
  return { finding: finding(about, 'uncertain', `${words} Its workflow waits for a person.`, remedies) };
}

/** Takes back `adopt` for tasks that an uncertain create may have made: adopted first, `recreate` would pay twice. */
export function afterDecisions(findings: readonly Finding[]): readonly Finding[] {
  const creates = new Map<string | null, string>();
  for (const remedy of findings.flatMap(({ remedies }) => remedies)) {
    if (remedy.do === 'resolveAdopt' || remedy.do === 'settle') creates.set(remedy.requestId, remedy.workflowId);
  }
  return findings.map((found) => {
    const create = found.requestId === null ? undefined : creates.get(found.requestId);
    if (create === undefined || !found.remedies.some(({ do: what }) => what === 'adopt')) return found;
    const reason = `${found.reason} It may be what a create of ${create} made: decide that first, below.`;
    return { ...found, reason, remedies: [] };
  });
}

export function inOrder(findings: readonly Finding[]): readonly Finding[] {
  const rank = ({ kind }: Finding): number => findingKinds.indexOf(kind);
  const name = ({ requestId, workflowId }: Finding): string => `${requestId ?? ''} ${workflowId ?? ''}`;
  return [...findings].sort((a, b) => rank(a) - rank(b) || (name(a) < name(b) ? -1 : 1));
}

function finding(
  { requestId, workflowId, account }: Pick<TaskFacts, 'workflowId' | 'account'> & { requestId: string | null },
  kind: FindingKind,
  reason: string,
  remedies: readonly Remedy[],
): Finding {
  return { kind, requestId, workflowId, account, reason, remedies };
}

/** An expiry that has passed proves nothing: it, or this machine's clock, may be wrong; the links may still work. */
function formatUntil(expiresAtMs: number | null, nowMs: number): string {
  if (expiresAtMs === null) return '';
  return expiresAtMs <= nowMs
    ? `, which should have deleted it at ${formatMoment(expiresAtMs)}: try it at once`
    : ` until ${formatMoment(expiresAtMs)}`;
}
