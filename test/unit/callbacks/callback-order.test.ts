import { callbackOptions } from '../../../src/activities/create-request';

const order = { url: 'https://longhaul.example/callback', token: () => 'token-of-today' };

describe('a create', () => {
  it('asks for a callback to its workflow, which is named in the correlation header', () => {
    expect(callbackOptions(order, 'task:order-17')).toEqual({
      callback: { url: 'https://longhaul.example/callback', token: 'token-of-today' },
      headers: { 'X-Svc-Task-Correlation': 'task:order-17' },
    });
  });

  it.each([
    ['there is no receiver', undefined, 'task:order-17'],
    ['the receiver would not accept its workflow id', order, 'somebody’s own id'],
  ])('asks for none when %s', (_when, callback, workflowId) => {
    expect(callbackOptions(callback, workflowId)).toEqual({});
  });
});
