import { isTerminal, parseServiceStatus, serviceStatuses } from '../../../src/domain/task-state';

describe('parseServiceStatus', () => {
  it.each(serviceStatuses)('reads %s as itself', (word) => {
    expect(parseServiceStatus(word)).toBe(word);
  });

  it('reads the other spelling of Canceled', () => {
    expect(parseServiceStatus('Cancelled')).toBe('Canceled');
  });

  it.each(['', 'success', 'Warming', 'SUCCESS', ' Success'])('does not know %j', (word) => {
    expect(parseServiceStatus(word)).toBeUndefined();
  });
});

describe('isTerminal', () => {
  it('holds for Success, Failed and Canceled only, so an unknown state never ends a task', () => {
    const terminal = [...serviceStatuses, undefined].filter(isTerminal);
    expect(terminal).toEqual(['Success', 'Failed', 'Canceled']);
  });
});
