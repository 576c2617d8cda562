import { UnarchivedResults, withMetrics } from '../../../src/activities/metrics';
import type { ArchiveOutputsInput } from '../../../src/contract/activities';
import { FakeService } from '../../support/fake-activities';
import { ActivityEnvironment } from '../../support/activity-environment';

const hourMs = 3_600_000;

function inputOf(requestId: string, expiresInHours: number | null, account = 'default'): ArchiveOutputsInput {
  const iso = expiresInHours === null ? null : new Date(Date.now() + expiresInHours * hourMs).toISOString();
  return {
    ...{ account, requestId, folder: '', status: 'Success', webAppId: 7, inputs: [], values: {} },
    ...{ timestamps: iso === null ? {} : { expiredAt: { iso, raw: iso } }, costTimes: {}, cost: null },
    errorMessage: null,
  };
}

const service = new FakeService();
const unarchived = new UnarchivedResults();
const activities = withMetrics(service.activities, () => true, unarchived);
const failure = new Error('the disk is full');

async function archive(input: ArchiveOutputsInput): Promise<void> {
  const environment = new ActivityEnvironment();
  await environment.run(activities.archiveOutputs, input).catch(() => undefined);
}

describe('results whose archive failed', () => {
  it('count once they expire within six hours, until they are archived or another worker had its turn', async () => {
    service.archiveFailures = Array.from({ length: 5 }, () => failure);
    await archive(inputOf('soon', 5));
    await archive(inputOf('over', -1));
    await archive(inputOf('later', 8));
    await archive(inputOf('unknown', null));
    await archive(inputOf('soon', 5, 'other'));
    expect(unarchived.expiring('default')).toEqual(['soon', 'over']);
    expect(unarchived.expiring('other')).toEqual(['soon']);
    expect(unarchived.expiring('default', performance.now() + 3 * hourMs)).toEqual(['soon', 'over', 'later']);

    await archive(inputOf('soon', 5));
    expect(unarchived.expiring('default')).toEqual(['over']);
    expect(unarchived.expiring('default', performance.now() + 8 * hourMs)).toEqual([]);
  });
});
