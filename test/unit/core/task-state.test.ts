import { isTerminal, parseServiceStatus, serviceStatuses } from '../../../src/core/task-state';

describe('parseServiceStatus', () => {
  it.each(serviceStatuses)('reads %s as itself', (word) => {
    expect(parseServiceStatus(word)).toBe(word);
  });

  it.each([
    ['Cancelled', 'Canceled'],
    ['SUCCESS', 'Success'],
    ['Succeeded', 'Success'],
    ['COMPLETED', 'Success'],
    ['完成', 'Success'],
    ['In_Progress', 'Running'],
    ['in progress', 'Running'],
    ['FAILURE', 'Failed'],
    ['error', 'Failed'],
    ['pending', 'Queuing'],
    ['Starting', 'Preparing'],
    ['已取消', 'Canceled'],
  ])('reads %s as %s', (word, state) => {
    expect(parseServiceStatus(word)).toBe(state);
  });

  it.each(['', 'Warming', 'constructor'])('does not know %j', (word) => {
    expect(parseServiceStatus(word)).toBeUndefined();
  });

  it('prefers what was configured', () => {
    const configured = new Map([['completed', 'Running'] as const]);
    expect(parseServiceStatus('Completed', configured)).toBe('Running');
    expect(parseServiceStatus('Success', configured)).toBe('Success');
  });
});

describe('isTerminal', () => {
  it('holds for Success, Failed and Canceled only, so an unknown state never ends a task', () => {
    const terminal = [...serviceStatuses, undefined].filter(isTerminal);
    expect(terminal).toEqual(['Success', 'Failed', 'Canceled']);
  });
});
