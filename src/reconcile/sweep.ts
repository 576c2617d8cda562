import { workflowTaskQueue } from '../contract/task-queues';
import type { SweepPlan, SweepResult, SweepState } from '../contract/sweep';
import type { Finding } from '../core/reconcile';
import { redactJson } from '../core/redact';
import { boundedText, safeText } from '../core/text';
import type { Archive } from '../storage/archive/archive';
import type { ArchiveIdentity } from '../storage/archive/archive-identity';
import { ArchiveError } from '../storage/errors';
import { boundedReconciliationText, countKinds, type FindingView, findingView } from './finding-view';
import { handleAll } from './policies';
import { type Changes, reconcile, type ReconcileDependencies } from './reconcile';

export interface SweepDependencies extends ReconcileDependencies {
  readonly taskQueue: string;
  /** With another archive, every result would be called lost. */
  readonly archiveIdentity: Pick<ArchiveIdentity, 'during'>;
}

export interface SweepRun {
  readonly plan: SweepPlan;
  /** From the last sweep that completed; null: compare everything. */
  readonly last: SweepState | null;
}

export interface SweepOptions {
  readonly signal: AbortSignal;
  /** Epoch milliseconds by Temporal's clock: with a worker's, everything may be left out. */
  readonly nowMs: number;
  readonly onProgress: (words: string) => void;
  readonly onFinding: (finding: FindingView) => void;
}

const dayMs = 24 * 3_600_000;
/** Temporal's list lags, and the clocks of Temporal and of the archive are two. */
const overlapMs = 3_600_000;
/** What disappears from Temporal or the archive is no change that can be listed. */
const compareAllEveryMs = dayMs;
/** More findings are not handed on: the next sweep compares everything. */
const maxStateLength = 256 * 1024;
/** The most pressing first; counts are of all. */
const maxReported = 1_000;
const maxShown = 20;
const maxTextLength = 16 * 1024;
const maxProblemLength = 300;
const maxReasonLength = 2_000;
const maxReports = 100;

const reportFolder = '.sweeps';

/**
 * Compares what Temporal, the archive and the service know, applies the plan's policies, and keeps the report
 * `.sweeps/<time>.json`. May be repeated. Throws ArchiveError, client errors about Temporal, and the signal's reason.
 */
export async function sweep(
  dependencies: SweepDependencies,
  { plan, last }: SweepRun,
  options: SweepOptions,
): Promise<SweepResult> {
  const { taskQueue, longhaul, archive, archiveIdentity } = dependencies;
  const { signal, nowMs, onProgress, onFinding } = options;
  const scope = { requestIds: [], account: null, settlements: [], sinceMs: nowMs - plan.windowDays * dayMs };
  const isOfPlan = last !== null && JSON.stringify(last.plan) === JSON.stringify(plan);
  const goesOn = isOfPlan && Math.abs(nowMs - Date.parse(last.comparedAllAt)) < compareAllEveryMs;
  const changes: Changes | null = goesOn
    ? { sinceMs: Date.parse(last.readUpTo) - overlapMs, earlier: last.findings }
    : null;
  const { safe, findings } = await archiveIdentity.during(() =>
    reconcile(dependencies, { ...scope, changes, taskQueue, verify: plan.verify, signal, onProgress }),
  );
  const swept = await handleAll(longhaul, plan, findings, signal);
  const left = swept.filter(({ isLeft }) => isLeft).map(({ finding }) => finding);
  const endedAt = new Date().toISOString();
  const unsafe = countKinds(left);
  const now = new Date(nowMs).toISOString();
  const changesSince = changes === null ? null : new Date(changes.sinceMs).toISOString();
  const next: SweepState = {
    plan,
    readUpTo: now,
    comparedAllAt: goesOn ? last.comparedAllAt : now,
    findings: left.map(({ requestId, account, workflowId }) => ({ requestId, account, workflowId })),
  };
  const toView = (finding: Finding): FindingView => {
    const view = findingView(finding, taskQueue === workflowTaskQueue ? null : taskQueue);
    return redactJson({ ...view, reason: boundedText(view.reason, maxReasonLength) }) as FindingView;
  };
  const shown = left.slice(0, maxShown).map(toView);
  // Before the report, which a full archive does not take.
  for (const view of shown) onFinding(view);
  const report = await keepReport(archive, endedAt, {
    endedAt,
    plan,
    changesSince,
    safe,
    unsafe,
    handled: swept.flatMap(({ finding, handled }) => (handled === undefined ? [] : [{ ...toView(finding), handled }])),
    findings: left.slice(0, maxReported).map(toView),
    omitted: Math.max(0, left.length - maxReported),
  });
  const where = report.isKept ? `in the report, ${report.place}` : 'that "longhaul reconcile" prints';
  const bounds = { counts: unsafe, where, maxLength: maxTextLength };
  const text = boundedText(boundedReconciliationText({ safe }, shown, bounds), maxTextLength);
  return {
    endedAt,
    safe,
    unsafe,
    handled: swept.length - left.length,
    changesSince,
    next: JSON.stringify(next).length > maxStateLength ? null : next,
    report: report.place,
    text,
  };
}

/** An archive that takes no report must not hide the findings. */
async function keepReport(
  archive: Archive,
  endedAt: string,
  report: object,
): Promise<{ readonly place: string; readonly isKept: boolean }> {
  const name = `${reportFolder}/${endedAt.replaceAll(':', '-')}.json`;
  try {
    await archive.replace(name, `${JSON.stringify(report, null, 2)}\n`);
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    return { place: `none, ${safeText(error.message, [], maxProblemLength)}`, isKept: false };
  }
  await removeOldReports(archive, name).catch((error: unknown) => {
    if (!(error instanceof ArchiveError)) throw error;
  });
  return { place: archive.locate(name), isKept: true };
}

/** Oldest by name, but never the newest: an earlier worker's clock may have been wrong. */
async function removeOldReports(archive: Archive, newest: string): Promise<void> {
  const names: string[] = [];
  for await (const { name } of archive.list(reportFolder)) {
    if (ownReport.test(name) && name !== newest) names.push(name);
  }
  for (const old of names.sort().slice(0, 1 - maxReports)) await archive.remove(old);
}

const ownReport = /^\.sweeps\/\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z\.json$/;
