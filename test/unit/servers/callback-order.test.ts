import { callbackOptions } from '../../../src/activities/create-request';

const order = { url: 'https://longhaul.example/callback', token: () => 'token-of-today' };

describe('a create', () => {
  it('asks for a callback that names it, its workflow and its number, in the correlation header', () => {
    expect(callbackOptions(order, 'task:order-17', 2)).toEqual({
      callback: { url: 'https://longhaul.example/callback', token: 'token-of-today' },
      headers: { 'X-Svc-Task-Correlation': 'task:order-17/2' },
    });
  });

  it.each([
    ['there is no receiver', undefined, 'task:order-17'],
    ['the receiver would not accept its workflow id', order, 'somebody’s own id'],
  ])('asks for none when %s', (_when, callback, workflowId) => {
    expect(callbackOptions(callback, workflowId, 1)).toEqual({});
  });
});
