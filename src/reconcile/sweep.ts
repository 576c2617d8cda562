import type { Longhaul } from '../client/longhaul';
import { workflowTaskQueue } from '../contract/task-queues';
import type { SweepPlan, SweepResult } from '../contract/sweep';
import type { Finding, FindingKind } from '../domain/reconcile';
import { redactJson } from '../domain/redact';
import { boundedText, errorMessage, printableText } from '../domain/text';
import type { Archive } from '../storage/archive/archive';
import { countKinds, type FindingView, findingView, reconciliationText } from './finding-view';
import { reconcile, type ReconcileDependencies } from './reconcile';

/** What a sweep works with; made by the worker. */
export interface SweepDependencies extends ReconcileDependencies {
  /** Of the workers: only what they ran is compared. */
  readonly taskQueue: string;
}

/** How a sweep is run. */
export interface SweepOptions {
  readonly signal: AbortSignal;
  /** Is called with a line of progress. */
  readonly onProgress: (words: string) => void;
  /** Is called with each of the first findings that are left. */
  readonly onFinding: (finding: FindingView) => void;
}

const dayMs = 24 * 3_600_000;
/** A report has so many findings, the most pressing first; its counts are of all. */
const maxReported = 1_000;
/** So many stand in the workflow's result and in the log. */
const maxShown = 20;
const maxTextLength = 16 * 1024;
/** A sweep takes care of so many at most; the next one goes on. */
const maxHandled = 200;
/** The oldest reports are removed. */
const maxReports = 100;

const reportFolder = '.sweeps';

/** A finding, and what the policies of the sweep made of it. */
interface SweptFinding {
  readonly finding: Finding;
  /** In words; undefined when it was left as it is. */
  readonly handled: string | undefined;
}

/**
 * Compares what Temporal, the archive and the service know of tasks, takes care of what the plan has it take care of, and
 * keeps a report in the archive, `.sweeps/<time>.json`. May be repeated. Throws ArchiveError, the client's errors about
 * Temporal, and the signal's reason.
 */
export async function sweep(
  dependencies: SweepDependencies,
  plan: SweepPlan,
  options: SweepOptions,
): Promise<SweepResult> {
  const { taskQueue, longhaul, archive } = dependencies;
  const { signal, onProgress, onFinding } = options;
  const { safe, findings } = await reconcile(dependencies, {
    ...{ requestIds: [], account: null, settlements: [] },
    ...{ sinceMs: Date.now() - plan.windowDays * dayMs, taskQueue, verify: plan.verify, signal, onProgress },
  });
  const swept = await handleAll(longhaul, plan, findings, options);
  const left = swept.filter(({ handled }) => handled === undefined).map(({ finding }) => finding);
  const endedAt = new Date().toISOString();
  const unsafe = countKinds(left);
  const toView = (finding: Finding): FindingView => {
    const view = findingView(finding, taskQueue === workflowTaskQueue ? null : taskQueue);
    return redactJson(view) as FindingView;
  };
  const report = await keepReport(archive, endedAt, {
    ...{ endedAt, plan, safe, unsafe },
    handled: swept.flatMap(({ finding, handled }) => (handled === undefined ? [] : [{ ...toView(finding), handled }])),
    findings: left.slice(0, maxReported).map(toView),
    omitted: Math.max(0, left.length - maxReported),
  });
  const shown = left.slice(0, maxShown).map(toView);
  for (const view of shown) onFinding(view);
  const more = left.length > shown.length ? `\nand ${left.length - shown.length} more in the report\n` : '';
  const text = boundedText(printableText(`${reconciliationText({ safe }, shown, unsafe)}${more}`), maxTextLength);
  return { endedAt, safe, unsafe, handled: swept.length - left.length, report, text };
}

/** One after the other, so that a policy starts no flood. */
async function handleAll(
  longhaul: Longhaul,
  plan: SweepPlan,
  findings: readonly Finding[],
  { signal, onProgress }: SweepOptions,
): Promise<readonly SweptFinding[]> {
  const swept: SweptFinding[] = [];
  let handledCount = 0;
  for (const finding of findings) {
    signal.throwIfAborted();
    const handled = handledCount < maxHandled ? await handle(longhaul, plan, finding, onProgress) : undefined;
    if (handled !== undefined) handledCount += 1;
    swept.push({ finding, handled });
  }
  return swept;
}

/** What a policy made of a finding, in words; undefined when none applies, or it could not be done. */
async function handle(
  longhaul: Longhaul,
  { rearchive, unfollowed }: SweepPlan,
  finding: Finding,
  onProgress: SweepOptions['onProgress'],
): Promise<string | undefined> {
  const { kind, workflowId } = finding;
  const [remedy] = finding.remedies;
  try {
    if (rearchive && remedy?.do === 'rearchive') {
      await longhaul.task(remedy.workflowId).rearchive();
      return `${remedy.workflowId} archives it again`;
    }
    const isWanted = kind === 'running' ? unfollowed !== 'report' : rearchive && archivable.includes(kind);
    if (!isWanted || remedy?.do !== 'adopt') return undefined;
    const { requestId, account, folder } = remedy;
    const task = await longhaul.adopt(requestId, {
      ...(account !== null && { account }),
      ...(folder !== '' && { archive: folder }),
    });
    // A workflow that follows it already is somebody's: it is not stopped.
    if (kind !== 'running' || unfollowed !== 'stop' || task.origin === 'attached')
      return `${task.workflowId} follows it`;
    await task.stop();
    return `${task.workflowId} follows and stops it`;
  } catch (error) {
    onProgress(`${workflowId ?? finding.requestId ?? ''} was left as it is: ${errorMessage(error)}`);
    return undefined;
  }
}

const archivable: readonly FindingKind[] = ['notArchived', 'damaged'];

/** Returns where the report is. Earlier ones stay, the oldest excepted. */
async function keepReport(archive: Archive, endedAt: string, report: object): Promise<string> {
  const name = `${reportFolder}/${endedAt.replaceAll(':', '-')}.json`;
  await archive.replace(name, `${JSON.stringify(report, null, 2)}\n`);
  const names: string[] = [];
  for await (const { name: kept } of archive.list(reportFolder)) if (ownReport.test(kept)) names.push(kept);
  for (const old of names.sort().slice(0, -maxReports)) await archive.remove(old);
  return archive.locate(name);
}

const ownReport = /^\.sweeps\/\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z\.json$/;
