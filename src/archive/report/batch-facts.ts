import { batchCommand, listWaiting, repairCommands, repairsOf } from '../../contract/batch/batch-repairs';
import { failureTypes } from '../../contract/failure-types';
import type { ReportFacts } from './report-data';

export interface ReportedBatch extends Pick<
  ReportFacts,
  'ending' | 'source' | 'files' | 'leftOut' | 'goneRows' | 'isPartial' | 'archive'
> {
  readonly id: string;
  /** The page of a namespace in Temporal's Web UI, without a slash at its end; null when it is not known. */
  readonly webUi: string | null;
}

export function toReportFacts({ id, webUi, ...batch }: ReportedBatch, now: Date): ReportFacts {
  const commands = repairCommands(id, batch);
  const nameLeftOut = {
    does: `Name the rows that were left out; starts nothing.${commands.withOptions}`,
    command: `${commands.run} --dry-run --problems problems.csv`,
  };
  const types = Object.values(failureTypes).filter((type) => type !== failureTypes.RowsChanged);
  return {
    ...batch,
    batch: id,
    madeAt: now.toISOString(),
    commands: [
      commands.fetch,
      ...(batch.leftOut === null || batch.leftOut === 0 ? [] : [nameLeftOut]),
      {
        does: 'Run the rows again that failed or were not started, with the rows and options that they had; those that succeeded cost nothing',
        command: commands.retry.command,
      },
      {
        does: 'List its tasks that wait for a decision',
        command: listWaiting(id),
      },
      { does: 'Show the figures in a terminal', command: batchCommand('report', id) },
      { does: 'Find what was paid for and is not safe', command: 'longhaul reconcile' },
    ],
    repairs: Object.fromEntries(types.map((type) => [type, repairsOf(type, commands)])),
    workflowPages: webUi === null ? null : `${webUi}/workflows/`,
  };
}
