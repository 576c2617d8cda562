import { sweepDetails } from '../../../src/workflows/sweep';

describe('the page of a sweep', () => {
  const safe = { archived: 7, followed: 1, nothingToSave: 0, superseded: 0 };
  const result = {
    endedAt: '2026-03-01T12:00:00.000Z',
    safe,
    unsafe: {},
    handled: 0,
    report: 'report',
    text: 'All safe.',
  };

  it('says how much is safe, or what is not with its commands, which no text of the service can leave', () => {
    expect(sweepDetails(result)).toContain('### Everything is safe\n\n- **Safe:** 8\n');
    const text = 'task:a: ```` # heading\n    longhaul adopt r-1';
    const page = sweepDetails({ ...result, unsafe: { running: 2, lost: 1 }, handled: 4, text });
    expect(page).toContain('### 3 not safe');
    expect(page).toContain('Taken care of by this sweep:** 4');
    expect(page.split('````')).toHaveLength(3);
    expect(page).toContain('longhaul adopt r-1');
  });
});
