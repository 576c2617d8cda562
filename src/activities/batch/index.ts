import type { BatchActivities } from '../../contract/batch-activities';
import { ArchiveIdentity } from '../../storage/archive/archive';
import type { BatchDependencies } from '../dependencies';
import { asApplicationFailure } from '../to-application-failure';
import { cancelBatch, lookAtRows, stopRows } from './running-rows';
import { openBatch } from './open-batch';
import { recordRows } from './batch-record';
import { reportBatch } from './report-batch';
import { startRows } from './start-rows';

/** The activities of batches over these parts. */
export function createBatchActivities(parts: BatchDependencies): BatchActivities {
  const archive = new ArchiveIdentity(parts.archive);
  /** What writes a batch's record writes it into the archive that has the former ones. */
  const writing = async <Result>(activity: () => Promise<Result>): Promise<Result> => {
    return await asApplicationFailure(null, async () => {
      await archive.requireSame();
      return await activity();
    });
  };
  return {
    openBatch: (input) => writing(() => openBatch(parts, input)),
    startRows: (input) => asApplicationFailure(null, () => startRows(parts, input)),
    lookAtRows: (input) => asApplicationFailure(null, () => lookAtRows(parts, input)),
    stopRows: (input) => asApplicationFailure(null, () => stopRows(parts, input)),
    cancelBatch: (input) => asApplicationFailure(null, () => cancelBatch(parts, input)),
    recordRows: (input) => writing(() => recordRows(parts, input)),
    reportBatch: (input) => writing(() => reportBatch(parts, input)),
  };
}
