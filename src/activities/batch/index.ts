import type { BatchActivities } from '../../contract/batch/batch-activities';
import { ArchiveIdentity } from '../../storage/archive/archive-identity';
import type { BatchDependencies } from '../dependencies';
import { asApplicationFailure } from '../to-application-failure';
import { awaitRowEnds } from './await-row-ends';
import { ClosedRows } from './closed-rows';
import { cancelBatch, pollRows, stopRows } from './running-rows';
import { openBatch } from './open-batch';
import { recordRows } from './batch-record';
import { reportBatch } from './report-batch';
import { startRows } from './start-rows';

export function createBatchActivities(dependencies: BatchDependencies): BatchActivities {
  const { archiveIdentity: archive = new ArchiveIdentity(dependencies.archive) } = dependencies;
  const closedRows = new ClosedRows(dependencies.rowTasks);
  /** Records are written only into the archive that has the previous ones. */
  const writing = async <Result>(activity: () => Promise<Result>): Promise<Result> => {
    return await asApplicationFailure(null, () => archive.during(activity));
  };
  return {
    openBatch: (input) => writing(() => openBatch(dependencies, input)),
    startRows: (input) => asApplicationFailure(null, () => startRows(dependencies, input)),
    awaitRowEnds: (input) => asApplicationFailure(null, () => awaitRowEnds({ ...dependencies, closedRows }, input)),
    pollRows: (input) => asApplicationFailure(null, () => pollRows(dependencies, input)),
    stopRows: (input) => asApplicationFailure(null, () => stopRows(dependencies, input)),
    cancelBatch: (input) => asApplicationFailure(null, () => cancelBatch(dependencies, input)),
    recordRows: (input) => writing(() => recordRows(dependencies, input)),
    reportBatch: (input) => writing(() => reportBatch(dependencies, input)),
  };
}
