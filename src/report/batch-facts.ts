import { failureTypes, type FailureType, refusedInputs } from '../contract/failure-types';
import type { ReportFacts } from './report-data';

/** What is known of a batch when its report is written. */
export interface ReportedBatch {
  readonly id: string;
  /** `completed`, `drained` or `stopped`. */
  readonly ending: string;
  /** The name of the row file; null when it is not known. */
  readonly source: string | null;
  /** Rows of the row file that were left out; null or absent when that is not known. */
  readonly badRows?: number | null;
  /** Where its results are. */
  readonly archive: string;
  /** The page of a namespace in Temporal's Web UI, without a slash at its end; null when it is not known. */
  readonly webUi?: string | null;
}

/** Whether the create was taken is not known, so the service has to be asked before anything is run again. */
const uncertain: readonly FailureType[] = [failureTypes.CreateUncertain, failureTypes.StopUnconfirmed];
/** Nothing is repaired by running the same row again. */
const changed: readonly FailureType[] = [failureTypes.RowsChanged, failureTypes.InputChanged];

/** What the report says of the batch as a whole, and the commands that apply to it. */
export function toReportFacts(
  { id, ending, source, badRows = null, archive, webUi = null }: ReportedBatch,
  now: Date,
): ReportFacts {
  const file = source === null ? 'FILE' : shellWord(source);
  const retry = {
    does: 'Run them again, with the rows and options that they had; may be paid anew',
    command: `longhaul batch retry ${shellWord(id)}`,
  };
  const correct = {
    does: 'Nothing was paid. Correct the rows, then run the file again, with the options of the first run such as --template beside these',
    command: `longhaul batch run ${file} --id ${shellWord(id)} --retry-failed`,
  };
  const ask = { does: 'Find out whether the service has it', command: 'longhaul reconcile' };
  const repairs = Object.values(failureTypes).flatMap((type) => {
    if (changed.includes(type)) return [];
    const isRefused = refusedInputs.includes(type);
    return [[type, uncertain.includes(type) ? ask : isRefused ? correct : retry] as const];
  });
  return {
    batch: id,
    ending,
    source,
    leftOut: badRows,
    archive,
    madeAt: now.toISOString(),
    commands: [
      ...(badRows === null || badRows === 0
        ? []
        : [
            {
              does: 'Name the rows that were left out, with the options of the first run; starts nothing',
              command: `longhaul batch run ${file} --id ${shellWord(id)} --dry-run --problems problems.csv`,
            },
          ]),
      {
        does: 'Run the rows again that failed or were not started, with the rows and options that they had; those that succeeded cost nothing',
        command: retry.command,
      },
      {
        does: 'List its tasks that wait for a decision',
        command: `longhaul list --batch ${shellWord(id)} --needs-person`,
      },
      { does: 'Show the figures in a terminal', command: `longhaul batch report ${shellWord(id)}` },
      { does: 'Find what was paid for and is not safe', command: 'longhaul reconcile' },
    ],
    repairs: Object.fromEntries(repairs),
    workflowPages: webUi === null ? null : `${webUi}/workflows/`,
  };
}

/** A word of a command line for a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
