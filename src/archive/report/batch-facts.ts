import {
  failureTypes,
  type FailureType,
  mayExistUnfollowed,
  mayNeedOtherInput,
  refusedInputs,
  unpaidRefusals,
} from '../../contract/failure-types';
import { shellWord } from '../../core/text';
import type { ReportCommand, ReportFacts } from './report-data';

/** What is known of a batch when its report is written. */
export interface ReportedBatch {
  readonly id: string;
  /** `completed`, `drained` or `stopped`. */
  readonly ending: string;
  /** The name of the row file; null when it is not known. */
  readonly source: string | null;
  /** Rows of the row file that were left out; null or absent when that is not known. */
  readonly badRows?: number | null;
  /** Rows on record that are not among its rows any more; null or absent when there are none, or that is not known. */
  readonly goneRows?: ReportFacts['goneRows'];
  /** No run of it has ended: the rows that are on record so far are all that is known. */
  readonly isPartial?: boolean;
  /** Where its results are. */
  readonly archive: string;
  /** The page of a namespace in Temporal's Web UI, without a slash at its end; null when it is not known. */
  readonly webUi?: string | null;
}

/** Nothing is repaired by running the same row again. */
const changed: readonly FailureType[] = [failureTypes.RowsChanged, failureTypes.InputChanged];

/** What the report says of the batch as a whole, and the commands that apply to it. */
export function toReportFacts(
  { id, ending, source, badRows = null, goneRows = null, isPartial = false, archive, webUi = null }: ReportedBatch,
  now: Date,
): ReportFacts {
  const file = source === null ? 'FILE' : shellWord(source);
  // A command line refuses OPTIONS: copied without those of the first run, it could start rows that lack an input.
  const run = `longhaul batch run ${file} --id ${shellWord(id)} OPTIONS`;
  const retry = `longhaul batch retry ${shellWord(id)}`;
  return {
    batch: id,
    ending,
    source,
    leftOut: badRows,
    ...(goneRows !== null && { goneRows }),
    ...(isPartial && { isPartial }),
    archive,
    madeAt: now.toISOString(),
    commands: [
      ...(badRows === null || badRows === 0
        ? []
        : [
            {
              does: 'Name the rows that were left out; starts nothing. OPTIONS stands for the options of the first run, such as --app, -i and --template',
              command: `${run} --dry-run --problems problems.csv`,
            },
          ]),
      {
        does: 'Run the rows again that failed or were not started, with the rows and options that they had; those that succeeded cost nothing',
        command: retry,
      },
      {
        does: 'List its tasks that wait for a decision',
        command: `longhaul list --batch ${shellWord(id)} --needs-person`,
      },
      { does: 'Show the figures in a terminal', command: `longhaul batch report ${shellWord(id)}` },
      { does: 'Find what was paid for and is not safe', command: 'longhaul reconcile' },
    ],
    repairs: listRepairs(run, retry),
    workflowPages: webUi === null ? null : `${webUi}/workflows/`,
  };
}

const ofTheFirstRun =
  'OPTIONS stands for the options of the first run, such as --app, -i and --template, but without --retry-failed, which pays failed rows anew';

/** By type of failure, what may be done about it. */
function listRepairs(run: string, retry: string): ReportFacts['repairs'] {
  const retryAll = {
    does: 'Run all that failed again, with the rows and options that they had; may be paid anew',
    command: retry,
  };
  const correct = {
    does: `Nothing was paid. Correct the rows, then run the file again. ${ofTheFirstRun}`,
    command: run,
  };
  const replaced = {
    does: 'Where the cause was not in the row, such as a photo or an app that was corrected: run the rows again that were refused unpaid, and no others',
    command: `${retry} --unpaid`,
  };
  const correctPaid = {
    does: `Where the rows were corrected: run them, and pay them, anew. ${ofTheFirstRun}`,
    command: `${run} --allow-changed`,
  };
  const ask = { does: 'Find out whether the service has it', command: 'longhaul reconcile' };
  const repairsOf = (type: FailureType): readonly ReportCommand[] => {
    if (mayExistUnfollowed.includes(type)) return [ask];
    if (refusedInputs.includes(type)) return [correct, replaced];
    if (unpaidRefusals.includes(type)) return [replaced];
    return mayNeedOtherInput.includes(type) ? [retryAll, correctPaid] : [retryAll];
  };
  const types = Object.values(failureTypes).filter((type) => !changed.includes(type));
  return Object.fromEntries(types.map((type) => [type, repairsOf(type)]));
}
