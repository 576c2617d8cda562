import { createSweepActivities, type RunSweep } from '../../../src/activities/sweep';
import { ActivityEnvironment } from '../../support/activity-environment';

const plan = { windowDays: 30, verify: false, rearchive: false, unfollowed: 'report' } as const;
const result = {
  endedAt: '2026-03-01T12:00:00.000Z',
  unsafe: {},
  handled: 0,
  changesSince: null,
  next: null,
  report: 'report',
  text: 'All safe.',
  safe: { followed: 0, archived: 0, nothingToSave: 0, superseded: 0 },
};

describe('the activity of a sweep', () => {
  it('counts its window from the clock of Temporal, since a wrong one of a worker would leave out everything', async () => {
    const scheduledAtMs = Date.parse('2026-03-01T12:00:00.000Z');
    const info = { currentAttemptScheduledTimestampMs: scheduledAtMs };
    const environment = new ActivityEnvironment(info);
    const run = jest.fn<ReturnType<RunSweep>, Parameters<RunSweep>>().mockResolvedValue(result);

    await environment.run(createSweepActivities(run).sweep, plan);

    expect(run.mock.calls[0]?.[1]).toMatchObject({ nowMs: scheduledAtMs });
  });
});
