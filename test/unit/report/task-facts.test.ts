import { runCommandLine } from '../../../src/commands/program';
import { FakeContext } from '../../support/fake-context';
import { type ReportedTask, toTaskFacts } from '../../../src/report/task-facts';

const task: ReportedTask = {
  ...{ workflowId: 'task:order 17', state: 'Failed', status: 'Failed', waits: null, remarks: [], app: '5' },
  ...{ failure: { type: 'TaskFailed', message: 'no' }, account: 'default', requestId: 'r-1', manifest: null },
  ...{ startedAt: null, endedAt: null, timestamps: {}, costTimes: {}, cost: null },
  ...{ inputs: [], outputCount: 0, missing: [] },
};
const place = { archive: '/archive', webUi: null, now: new Date(0) };
const remedies = (more: Partial<ReportedTask>): readonly string[] =>
  toTaskFacts({ ...task, ...more }, place).remedies.map(({ command }) => command);
const failure = (type: string): Pick<ReportedTask, 'failure'> => ({ failure: { type, message: 'no' } });

describe('what helps a task', () => {
  it('is the command for the way in which it failed, and for what it is', () => {
    expect(remedies({ workflowId: 'task:a' })).toEqual(['longhaul run 5 --key a --retry OPTIONS']);
    expect(remedies({ workflowId: 'task:a', app: null })).toEqual(['longhaul run APP --key a --retry OPTIONS']);
    expect(remedies({ workflowId: 'task:adopt-r-1' })).toEqual(['longhaul adopt r-1']);
    expect(remedies({ workflowId: 'batch:photos:a' })).toEqual([
      'longhaul batch retry photos',
      'longhaul batch run FILE --id photos OPTIONS --allow-changed',
    ]);
    expect(remedies({ workflowId: 'batch:photos:a', ...failure('TaskRejected') })).toEqual([
      'longhaul batch run FILE --id photos OPTIONS',
      'longhaul batch retry photos --unpaid',
    ]);
    expect(remedies({ workflowId: 'batch:photos:a', ...failure('InputUnusable') })).toEqual([
      'longhaul batch run FILE --id photos OPTIONS',
      'longhaul batch retry photos --unpaid',
    ]);
    expect(remedies({ workflowId: 'batch:photos:a', ...failure('CreateUncertain') })).toEqual(['longhaul reconcile']);
    expect(remedies({ requestId: null, ...failure('CreateUncertain') })).toEqual(['longhaul reconcile']);
    expect(remedies({ requestId: null, ...failure('StopUnconfirmed') })).toEqual(['longhaul reconcile']);
    expect(remedies({ workflowId: 'task:a', ...failure('StopUnconfirmed') })).toEqual([
      'longhaul run 5 --key a --retry OPTIONS',
    ]);
    expect(remedies(failure('InputChanged'))).toEqual([]);
    expect(remedies({ failure: null })).toEqual([]);
  });

  it.each([
    ['run', '5', '--key', 'a', '--retry'],
    ['batch', 'run', 'FILE', '--id', 'photos', '--allow-changed'],
  ])('starts nothing where it is copied as it is: longhaul %s %s …', async (...args) => {
    const context = new FakeContext({});
    await runCommandLine([...args, 'OPTIONS'], context);
    expect(context).toMatchObject({ exitCode: 2 });
    expect(context.stderr.text).toContain('too many arguments');
  });

  it('is a decision while it waits for a person', () => {
    const waits = (state: 'CreateUncertain' | 'ArchiveIncomplete'): readonly string[] =>
      remedies({ workflowId: 'task:a', failure: null, state: 'Running', waits: state });
    expect(waits('CreateUncertain')[0]).toBe('longhaul resolve a --adopt REQUEST_ID');
    expect(waits('ArchiveIncomplete')).toEqual(['longhaul rearchive a', 'longhaul resolve a --abandon']);
  });

  it('is quoted for a shell', () => {
    expect(remedies({ workflowId: "batch:photos:it's", failure: null, waits: 'ArchiveIncomplete' })[0]).toBe(
      String.raw`longhaul rearchive 'batch:photos:it'\''s'`,
    );
  });
});
