import { failureTypes } from '../../../src/contract/failure-types';
import { problemText } from '../../../src/contract/problem';
import { afterFailure, type FailedTask, stuckAdvice } from '../../../src/contract/task-advice';

const task = { workflowId: 'task:a', isAdopted: false, batchId: null, requestId: null, createNumber: 1 };
const row = { ...task, workflowId: 'batch:night:row-3', batchId: 'night' };
const adopted = { ...task, isAdopted: true, requestId: 'r-1' };

function remedy(failed: Omit<FailedTask, 'type'>, type: keyof typeof failureTypes): string {
  return afterFailure({ ...failed, type: failureTypes[type] });
}

describe('what is left to do after a failure', () => {
  it('of a row that was refused unpaid is to correct it, or to retry the unpaid rows alone', () => {
    const words = remedy(row, 'TaskRejected');
    expect(words).toMatch(/^nothing was created.* Correct the cell and run the file again;/);
    expect(words).toContain('longhaul batch retry night --unpaid retries only rows that were not paid');
  });

  it.each([
    ['that was paid', 'r-1', 'TaskFailed'],
    ['that failed otherwise before it was created', null, 'StorageUnavailable'],
  ] as const)('of a row %s says that a retry of the batch starts every failed row', (_what, requestId, type) => {
    const words = remedy({ ...row, requestId }, type);
    expect(words).toContain('longhaul batch retry night starts every failed row anew');
    expect(words).not.toContain('--unpaid');
  });

  it('of a task says that a retry of one that was created is paid anew', () => {
    expect(remedy(task, 'TaskRejected')).toMatch(/longhaul retry a starts another one with the same input/);
    expect(remedy({ ...task, requestId: 'r-1' }, 'TaskFailed')).toContain('which is paid anew');
  });

  it.each([
    ['a task', { ...task, requestId: 'r-1' }, /longhaul retry a follows .* again.*another key makes a new task/],
    ['a row', { ...row, requestId: 'r-1' }, /retry of its batch follows .* again.*give the row another key/],
    ['an adopted one', adopted, /for the right id$/],
  ])(
    'of %s that the service does not know is to look in its list, for a retry creates nothing',
    (_what, one, words) => {
      const said = remedy(one, 'TaskNotFound');
      expect(said).toMatch(words);
      expect(said).toContain('look in the service’s own list');
      expect(said).not.toContain('paid anew');
    },
  );

  it('of a stop that was not confirmed is to follow the task, or to settle whether it exists', () => {
    const follow = remedy({ ...task, requestId: 'r-1' }, 'StopUnconfirmed');
    expect(follow).toContain('follow it with longhaul adopt r-1; longhaul retry a');
    expect(remedy({ ...row, requestId: 'r-1' }, 'StopUnconfirmed')).toMatch(/longhaul adopt r-1$/);
    expect(remedy(task, 'StopUnconfirmed')).toContain('longhaul reconcile --settle task:a/1=none');
  });

  it('of a create that is uncertain says which command goes on once that is settled', () => {
    const goesOn = 'follows or creates it; before, nothing is sent';
    expect(remedy(task, 'CreateUncertain')).toContain(`After that, longhaul retry a ${goesOn}`);
    expect(remedy(row, 'CreateUncertain')).toMatch(/After that, longhaul batch retry \S+ follows or creates it/);
  });
});

describe('the advice about workflow tasks that fail', () => {
  it.each([
    { failure: '[TMPRL1100] Nondeterminism error: no command', named: 'versions.md' },
    { failure: 'cause=WorkflowTaskFailedCauseNonDeterministicError', named: 'versions.md' },
    { failure: 'LONGHAUL_CODEC_KEYS_FILE has no key "2026"', named: 'restart the workers' },
    { failure: 'this worker is broken', named: 'the log of a worker' },
  ])('follows from $failure', ({ failure, named }) => {
    const remedies = ['versions.md', 'restart the workers', 'the log of a worker'];
    const others = remedies.filter((remedy) => remedy !== named && failure !== 'this worker is broken');
    const advice = problemText(stuckAdvice(failure));
    expect(advice).toContain(named);
    for (const text of [...others, 'reset']) expect(advice).not.toContain(text);
  });
});
