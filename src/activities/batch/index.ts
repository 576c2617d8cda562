import type { BatchActivities } from '../../contract/batch-activities';
import type { BatchDependencies } from '../dependencies';
import { asApplicationFailure } from '../to-application-failure';
import { lookAtRows } from './look-at-rows';
import { openBatch } from './open-batch';
import { recordRows } from './record-rows';
import { reportBatch } from './report-batch';
import { startRows } from './start-rows';
import { cancelBatch, stopRows } from './stop-rows';

/** The activities of batches over these parts. */
export function createBatchActivities(parts: BatchDependencies): BatchActivities {
  return {
    openBatch: (input) => asApplicationFailure(null, () => openBatch(parts, input)),
    startRows: (input) => asApplicationFailure(null, () => startRows(parts, input)),
    lookAtRows: (input) => asApplicationFailure(null, () => lookAtRows(parts, input)),
    stopRows: (input) => asApplicationFailure(null, () => stopRows(parts, input)),
    cancelBatch: (input) => asApplicationFailure(null, () => cancelBatch(parts, input)),
    recordRows: (input) => asApplicationFailure(null, () => recordRows(parts, input)),
    reportBatch: (input) => asApplicationFailure(null, () => reportBatch(parts, input)),
  };
}
