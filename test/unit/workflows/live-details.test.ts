import type { TaskStatus } from '../../../src/contract/task-messages';
import type { ArchivedOutput } from '../../../src/contract/task-result';
import { liveDetails, sweepDetails } from '../../../src/workflows/live-details';

const running: TaskStatus = {
  workflowId: 'task:photo-1',
  status: 'Running',
  since: '2025-06-01T00:00:05.123Z',
  startedAt: '2025-06-01T00:00:00.000Z',
  requestId: 'request-1',
  serviceStatus: 'Running',
  queuePosition: null,
  polls: 12,
  failedPolls: 0,
  createRequests: 1,
  waitingFor: 'the end of the run',
  nextStep: 'archive the outputs',
  problem: null,
  stopRequests: [],
};

const archived = { outputs: [], outputCount: 1, outputBytes: 3_400_000, manifest: '/archive/r/manifest.json' };

function archivedAs(path: string): ArchivedOutput {
  return { path, sha256: '0', bytes: 1, ext: '.png', auditStatus: null, errorType: 'NOT_ERROR' };
}

describe('the page of a task in the Web UI', () => {
  it('tells the state and since when, what is waited for, and what comes next', () => {
    expect(liveDetails(running).split('\n')).toEqual([
      '### Running',
      'since 2025-06-01 00:00:05 UTC',
      '',
      '- **Request id:** request-1',
      '- **At the service:** Running',
      '- **Waiting for:** the end of the run',
      '- **Next:** archive the outputs',
      '- **Queries so far:** 12',
      '- **Creates sent:** 1',
      '- **To stop it:** Request Cancellation; after Terminate it runs on at the service and is paid',
    ]);
  });

  it.each([
    ['CreateUncertain', ['adopt', 'recreate', 'abandon'], '`longhaul resolve photo-1 --adopt REQUEST_ID`'],
    ['ArchiveIncomplete', ['rearchive', 'abandon'], '`longhaul rearchive photo-1`'],
  ] as const)(
    'tells each decision about a task that waits as %s, as an update and as a command',
    (status, updates, command) => {
      const page = liveDetails({ ...running, status });
      expect([...page.matchAll(/^- `(\w+)`.*, or `longhaul /gm)].map(([, update]) => update)).toEqual(updates);
      expect(page).toContain(command);
      expect(liveDetails({ ...running, status }, { isOver: true })).not.toContain('longhaul');
    },
  );

  it('has no text of an id that is not Longhaul’s own in a command to copy', () => {
    const page = liveDetails({ ...running, workflowId: 'task:a`; rm -rf', status: 'ArchiveIncomplete' });
    expect(page).toContain('`longhaul rearchive WORKFLOW_ID`');
    expect(page).not.toContain('rm -rf');
  });

  it('tells of a task that is over that its cost is not known, and no longer how to stop it', () => {
    const page = liveDetails({ ...running, status: 'Failed' }, { isOver: true });
    expect(page).toContain('- **Cost:** not known: there is no price for its app');
    expect(page).not.toContain('To stop it');
    expect(liveDetails({ ...running, requestId: null }, { isOver: true })).not.toContain('Cost');
  });

  it('tells the cost, the row’s batch and the filter of its rows, as far as they are known', () => {
    const cost = { currency: 'EUR', micros: 1_230_000 };
    const page = liveDetails(running, { cost, batchId: 'photos' });
    expect(page).toContain('- **Cost:** 1.23 EUR\n');
    expect(page).toContain('- **Row of:** `batch:photos`\n');
    expect(page).toContain('- **Rows of its batch:** list with `LonghaulBatch = "photos"`');
  });

  it('tells the first five inputs and their sizes, once they are uploaded', () => {
    const inputs = Array.from({ length: 7 }, (_, index) => ({ name: `photo-${index}.png`, bytes: 1_500_000 }));
    expect(liveDetails(running, { inputs }).split('\n').slice(-8)).toEqual([
      '**Uploaded inputs:** 7, 10.5 MB',
      '',
      ...[0, 1, 2, 3, 4].map((index) => `- photo-${index}.png, 1.5 MB`),
      '- and 2 more',
    ]);
    expect(liveDetails(running, { inputs: [] })).not.toContain('inputs');
  });

  it('tells where the first five outputs and the manifest are, each on one line of bounded length', () => {
    const outputs = Array.from({ length: 7 }, (_, index) => archivedAs(`/archive/r/${index}.png`));
    const page = liveDetails(running, { archived: { ...archived, outputs, outputCount: 12 } });
    expect(page.split('\n').slice(-9)).toEqual([
      '**Archived outputs:** 12, 3.4 MB',
      '',
      ...[0, 1, 2, 3, 4].map((index) => `- \`/archive/r/${index}.png\``),
      '- and 7 more',
      '- manifest: `/archive/r/manifest.json`',
    ]);

    const hostile = archivedAs(`/a/\n# heading\u202e[x](http://evil.example)\`<img>${'x'.repeat(10_000)}`);
    const bounded = liveDetails(running, { archived: { ...archived, outputs: [hostile] } });
    expect(bounded.length).toBeLessThan(1_000);
    expect(bounded).toContain('- `` /a/ # heading\\u202e[x](http://evil.example)`<img>xxx');
    expect(bounded).not.toMatch(/^# heading/m);
  });

  it('tells of an end without outputs', () => {
    const page = liveDetails(running, { archived: { outputs: [], outputCount: 0, outputBytes: 0, manifest: null } });
    expect(page.split('\n').slice(-2)).toEqual(['', '**Archived outputs:** 0, 0 B']);
  });

  it('tells what is not known yet', () => {
    const page = liveDetails({ ...running, status: 'Creating', requestId: null, serviceStatus: null });
    expect(page).toContain('**Request id:** none yet');
    expect(page).toContain('**At the service:** not seen yet');
  });

  it('tells the place in the queue and how many queries failed', () => {
    const page = liveDetails({ ...running, serviceStatus: 'Queuing', queuePosition: 4, failedPolls: 2 });
    expect(page).toContain('Queuing, 4 ahead in the queue');
    expect(page).toContain('12, 2 failed');
  });

  it('tells the problem and each request to end it, on one line each', () => {
    const words = 'The service refused\nthe cancel.';
    const askedAt = '2025-06-01T00:01:00.000Z';
    const page = liveDetails({
      ...running,
      problem: 'HTTP 503\n\n# not a heading',
      stopRequests: [{ verb: 'cancel', askedAt, outcome: 'waiting', words }],
    });
    expect(page).toContain('**Problem:** `HTTP 503 # not a heading`');
    expect(page).toContain('- `cancel` at 2025-06-01 00:01:00 UTC: The service refused the cancel.');
    expect(page).not.toMatch(/^# not/m);
  });

  it.each([
    ['a link', '[click](http://evil.example)'],
    ['an address that would become a link', 'see http://evil.example and www.evil.example'],
    ['a picture', '<img src=http://evil.example/x.png> ![x](http://evil.example)'],
    ['HTML', '<a href="http://evil.example">ok</a>'],
    ['formatting', '**Success** ~~x~~ $$x$$'],
  ])('shows %s in words from outside as they are written', (_what, words) => {
    const askedAt = '2025-06-01T00:01:00.000Z';
    const page = liveDetails({
      ...running,
      requestId: words,
      serviceStatus: words,
      waitingFor: words,
      problem: words,
      stopRequests: [{ verb: 'cancel', askedAt, outcome: 'waiting', words }],
    });

    const quoted = page.split('\n').filter((line) => line.includes(`\`${words}\``));
    expect(quoted).toHaveLength(5);
    expect(page.replaceAll(`\`${words}\``, '')).not.toMatch(/evil|Success|[<[$]/);
  });
});

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
