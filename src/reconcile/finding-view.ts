import { type Finding, type FindingKind, findingKinds, type Remedy } from '../core/reconcile';
import { shellWord, printableLine, printableText } from '../core/text';
import type { Reconciliation } from './reconcile';

export interface RemedyCommand {
  /** When to use it; null where there is no choice. */
  readonly when: string | null;
  /** Words in capitals are for the person to fill in. */
  readonly command: string;
}

export interface FindingView extends Omit<Finding, 'remedies'> {
  readonly commands: readonly RemedyCommand[];
}

const titles: Record<FindingKind, string> = {
  running: 'Running, and followed by no workflow',
  notArchived: 'Succeeded, and not archived',
  damaged: 'Archived, with files missing or damaged',
  archiveIncomplete: 'Archive incomplete',
  unanswered: 'State unknown',
  uncertain: 'Uncertain whether created',
  unknownId: 'Unknown to the service',
  lost: 'Lost',
};

const placeholder = 'REQUEST_ID';

/** `taskQueue` is null when it is the usual one. */
export function findingView({ remedies, ...finding }: Finding, taskQueue: string | null): FindingView {
  return { ...finding, commands: remedies.map((remedy) => remedyCommand(remedy, taskQueue)) };
}

type FindingCounts = Partial<Record<FindingKind, number>>;

export function countKinds(findings: readonly Pick<Finding, 'kind'>[]): FindingCounts {
  const counts: FindingCounts = {};
  for (const { kind } of findings) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/** `counts` are of all findings, when only the first of them are given. */
export function reconciliationText(
  { safe }: Pick<Reconciliation, 'safe'>,
  findings: readonly FindingView[],
  counts: FindingCounts = countKinds(findings),
): string {
  const blocks = findingKinds.flatMap((kind) => {
    const ofKind = findings.filter((finding) => finding.kind === kind);
    return ofKind.length === 0 ? [] : [`${titles[kind]} (${counts[kind] ?? 0}):`, ...ofKind.flatMap(findingLines), ''];
  });
  const total = Object.values(safe).reduce((sum, count) => sum + count, 0);
  const parts = [
    `${safe.archived} archived`,
    `${safe.followed} followed`,
    `${safe.nothingToSave} without a result`,
    ...(safe.superseded === 0 ? [] : [`${safe.superseded} created again in their place`]),
  ];
  const found = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const verdict = found === 0 ? 'All safe' : `${found} not safe`;
  return [...blocks, `${verdict}. Safe: ${total} (${parts.join(', ')}).`, ''].join('\n');
}

/** At most `maxLength` characters: the first findings, and how many more there are `where`. */
export function boundedReconciliationText(
  safe: Pick<Reconciliation, 'safe'>,
  findings: readonly FindingView[],
  { counts, where, maxLength }: { readonly counts: FindingCounts; readonly where: string; readonly maxLength: number },
): string {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  for (let shown = findings.length; ; shown -= 1) {
    const more = total > shown ? `\nand ${total - shown} more ${where}\n` : '';
    const text = printableText(`${reconciliationText(safe, findings.slice(0, shown), counts)}${more}`);
    if (text.length <= maxLength || shown === 0) return text;
  }
}

function findingLines({ requestId, workflowId, account, reason, commands }: FindingView): string[] {
  const names = [requestId, workflowId, account === null || account === 'default' ? null : `account ${account}`];
  return [
    printableLine(`  ${names.filter((name) => name !== null).join(', ')}: ${reason}`),
    ...commands.map(({ when, command }) => `    ${command}${when === null ? '' : `   # ${when}`}`),
  ];
}

function remedyCommand(remedy: Remedy, taskQueue: string | null): RemedyCommand {
  const id = ('requestId' in remedy ? remedy.requestId : null) ?? placeholder;
  const record = 'createNumber' in remedy ? `${remedy.workflowId}/${remedy.createNumber}` : '';
  switch (remedy.do) {
    case 'adopt': {
      const { account, folder } = remedy;
      const options = [
        ...(account === null || account === 'default' ? [] : ['--account', account]),
        ...(folder === '' ? [] : ['--archive', folder]),
        ...(taskQueue === null ? [] : ['--task-queue', taskQueue]),
      ];
      return { when: null, command: words('adopt', id, ...options) };
    }
    case 'rearchive':
      return { when: null, command: words('rearchive', remedy.workflowId) };
    case 'resolveAdopt':
      return { when: 'it exists', command: words('resolve', remedy.workflowId, '--adopt', id) };
    case 'resolveRecreate': {
      const command = words('resolve', remedy.workflowId, '--recreate');
      return { when: 'create it once more; may be paid twice', command };
    }
    case 'resolveAbandon':
      return { when: 'give it up', command: words('resolve', remedy.workflowId, '--abandon') };
    case 'settle':
      return { when: 'it exists', command: words('reconcile', '--settle', `${record}=${id}`) };
    case 'settleNone':
      return { when: 'nothing was created', command: words('reconcile', '--settle', `${record}=none`) };
  }
}

function words(...args: readonly string[]): string {
  return ['longhaul', ...args.map(shellWord)].join(' ');
}
