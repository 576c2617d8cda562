import type { ArchivedOutput } from '../../../../src/contract/task-result';
import { openStopRequest } from '../../../../src/core/stop-request';
import { taskDetails } from '../../../../src/workflows/task/display';
import type { TaskState } from '../../../../src/workflows/task/task-run';
import { taskRun } from '../../../support/task-run';

const running: Partial<TaskState> = {
  status: 'Running',
  sinceMs: Date.parse('2025-06-01T00:00:05.123Z'),
  requestId: 'request-1',
  serviceStatus: 'Running',
  polls: 12,
  createRequests: 1,
  waitingFor: 'the end of the run',
  nextStep: 'archive the outputs',
};

/** The page of a task that runs, but for these fields of its state and its run. */
function pageOf(state: Partial<TaskState> = {}, run: Parameters<typeof taskRun>[0] = {}): string {
  return taskDetails(taskRun({ ...run, state: { ...running, ...state } }));
}

const archived = { outputs: [], outputCount: 1, outputBytes: 3_400_000, manifest: '/archive/r/manifest.json' };

function archivedAs(path: string): ArchivedOutput {
  return { path, sha256: '0', bytes: 1, ext: '.png', auditStatus: null, errorType: 'NOT_ERROR' };
}

function uploaded(name: string): TaskState['inputs'][number] {
  return { keys: ['1:LoadImage.image'], file: name, name, bytes: 1_500_000, sha256: '0', resourceId: 1 };
}

describe('the page of a task in the Web UI', () => {
  it('tells the state and since when, what is waited for, and what comes next', () => {
    expect(pageOf().split('\n')).toEqual([
      '### Running',
      'since 2025-06-01 00:00:05 UTC',
      '',
      '- **Request id:** request-1',
      '- **Service:** Running',
      '- **Waiting for:** the end of the run',
      '- **Next:** archive the outputs',
      '- **Queries:** 12',
      '- **Creates sent:** 1',
      '- **To stop it:** Request Cancellation; after Terminate it runs on at the service and is paid',
    ]);
  });

  it('leaves the count of queries to the activity that watches, as long as one does', () => {
    const queries = (status: TaskState['status'], isOver = false): string | undefined =>
      /Queries:\*\* (.*)/.exec(pageOf({ status }, { plan: { watch: 'activity' }, isOver }))?.[1];
    for (const status of ['Queuing', 'Preparing', 'Running', 'Watching'] as const) {
      expect(queries(status)).toBe('counted by the pending activity watchTask, in its heartbeat');
    }
    expect(queries('Stopping')).toBe('12');
    expect(queries('Archiving')).toBe('12');
    expect(queries('Success', true)).toBe('12');
  });

  it.each([
    ['CreateUncertain', ['adopt', 'recreate', 'abandon'], '`longhaul resolve photo-1 --adopt REQUEST_ID`'],
    ['ArchiveIncomplete', ['rearchive', 'abandon'], '`longhaul rearchive photo-1`'],
  ] as const)(
    'tells each decision about a task that waits as %s, as an update and as a command',
    (status, updates, command) => {
      const page = pageOf({ status });
      expect([...page.matchAll(/^- `(\w+)`.*, or `longhaul /gm)].map(([, update]) => update)).toEqual(updates);
      expect(page).toContain(command);
      expect(pageOf({ status }, { isOver: true })).not.toContain('longhaul');
    },
  );

  it('says while it is uncertain whether the task exists that no stop can be confirmed', () => {
    const page = pageOf({ status: 'CreateUncertain', requestId: null, serviceStatus: null });
    expect(page).toMatch(/To stop it:\*\* .*decide first; .*StopUnconfirmed/);
  });

  it.each([
    ['PreparingInputs', /Request Cancellation; nothing is created yet, so nothing is paid$/m],
    ['Creating', /a create that was not sent yet is not sent, and nothing is paid; after Terminate, one that was sent/],
    ['Stopping', /it is asked already; after Terminate it runs on/],
    ['Archiving', /it is over at the service, so a stop changes nothing there/],
    ['ArchiveIncomplete', /it is over at the service, so a stop changes nothing there/],
  ] as const)('says of %s what a stop does there', (status, words) => {
    const line = pageOf({ status })
      .split('\n')
      .find((one) => one.includes('To stop it'));
    expect(line).toMatch(words);
  });

  it('says of a task that was asked to stop already that it was', () => {
    expect(pageOf({ stopRequests: [openStopRequest('stop', 0)] })).toContain('it is asked already; after Terminate');
  });

  it('counts no creates while an activity makes them, which counts for itself', () => {
    expect(pageOf({ status: 'Creating' })).not.toContain('Creates sent');
  });

  it('has no text of an id that is not Longhaul’s own in a command to copy', () => {
    const page = pageOf({ status: 'ArchiveIncomplete' }, { workflowId: 'task:a`; rm -rf' });
    expect(page).toContain('`longhaul rearchive WORKFLOW_ID`');
    expect(page).not.toContain('rm -rf');
  });

  it('tells of a task that is over that its cost is not known, and no longer how to stop it', () => {
    const page = pageOf({ status: 'Failed' }, { isOver: true });
    expect(page).toContain('- **Cost:** not known: there is no price for its app');
    expect(page).not.toContain('To stop it');
    expect(pageOf({ requestId: null }, { isOver: true })).not.toContain('Cost');
  });

  it('tells the cost, the row’s batch and the filter of its rows, as far as they are known', () => {
    const cost = { currency: 'EUR', micros: 1_230_000 };
    const page = pageOf({ cost }, { plan: { batch: { id: 'photos', key: 'a' } } });
    expect(page).toContain('- **Cost:** 1.23 EUR\n');
    expect(page).toContain('- **Row of:** `batch:photos`\n');
    expect(page).toContain('- **Rows of its batch:** list with `LonghaulBatch = "photos"`');
  });

  it('tells the first five inputs and their sizes, once they are uploaded', () => {
    const inputs = Array.from({ length: 7 }, (_, index) => uploaded(`photo-${index}.png`));
    expect(pageOf({ inputs }).split('\n').slice(-8)).toEqual([
      '**Uploaded inputs:** 7, 10.5 MB',
      '',
      ...[0, 1, 2, 3, 4].map((index) => `- photo-${index}.png, 1.5 MB`),
      '- and 2 more',
    ]);
    expect(pageOf({ inputs: [] })).not.toContain('inputs');
  });

  it('tells where the first five outputs and the manifest are, each on one line of bounded length', () => {
    const outputs = Array.from({ length: 7 }, (_, index) => archivedAs(`/archive/r/${index}.png`));
    const page = pageOf({}, { archived: { ...archived, outputs, outputCount: 12 } });
    expect(page.split('\n').slice(-9)).toEqual([
      '**Archived outputs:** 12, 3.4 MB',
      '',
      ...[0, 1, 2, 3, 4].map((index) => `- \`/archive/r/${index}.png\``),
      '- and 7 more',
      '- manifest: `/archive/r/manifest.json`',
    ]);

    const hostile = archivedAs(`/a/\n# heading\u202e[x](http://evil.example)\`<img>${'x'.repeat(10_000)}`);
    const bounded = pageOf({}, { archived: { ...archived, outputs: [hostile] } });
    expect(bounded.length).toBeLessThan(1_000);
    expect(bounded).toContain('- `` /a/ # heading\\u202e[x](http://evil.example)`<img>xxx');
    expect(bounded).not.toMatch(/^# heading/m);
  });

  it('tells of an end without outputs', () => {
    const page = pageOf({}, { archived: { outputs: [], outputCount: 0, outputBytes: 0, manifest: null } });
    expect(page.split('\n').slice(-2)).toEqual(['', '**Archived outputs:** 0, 0 B']);
  });

  it('tells the place in the queue and how many queries failed', () => {
    const page = pageOf({ serviceStatus: 'Queuing', queuePosition: 4, failedPolls: 2 });
    expect(page).toContain('Queuing, 4 ahead in the queue');
    expect(page).toContain('12, 2 failed');
  });

  it('tells as of when the service said its state, unless that is final', () => {
    const serviceStatusAtMs = Date.parse('2025-06-01T00:03:00.000Z');
    expect(pageOf({ serviceStatusAtMs })).toContain('- **Service:** `Running, as of 2025-06-01 00:03:00 UTC`\n');
    expect(pageOf({ serviceStatusAtMs, serviceStatus: 'Success' })).not.toContain('as of');
  });

  it('tells the problem and each request to end it, on one line each', () => {
    const words = 'The service refused\nthe cancel.';
    const askedAt = '2025-06-01T00:01:00.000Z';
    const request = { ...openStopRequest('cancel', Date.parse(askedAt)), words };
    const page = pageOf({ problem: 'HTTP 503\n\n# not a heading', stopRequests: [request] });
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
    const page = pageOf({
      requestId: words,
      serviceStatus: words,
      waitingFor: words,
      problem: words,
      stopRequests: [{ ...openStopRequest('cancel', 0), words }],
    });

    const quoted = page.split('\n').filter((line) => line.includes(`\`${words}\``));
    expect(quoted).toHaveLength(5);
    expect(page.replaceAll(`\`${words}\``, '')).not.toMatch(/evil|Success|[<[$]/);
  });
});
