import { inspect } from 'node:util';
import { Secret } from '../../../src/config/secret';

describe('a secret', () => {
  const secret = new Secret('key-0815');

  it.each([
    ['a template string', `key: ${String(secret)}`],
    ['string concatenation', 'key: '.concat(String(secret))],
    ['JSON', JSON.stringify({ secret })],
    ['inspect', inspect({ secret }, { depth: 5, showHidden: true })],
    ['an error message', new Error(`refused ${String(secret)}`).message],
  ])('prints as [redacted] in %s', (_, text) => {
    expect(text).toContain('[redacted]');
    expect(text).not.toContain('key-0815');
  });

  it('has no property to walk into', () => {
    expect(Object.keys(secret)).toEqual([]);
    expect(Object.assign({}, secret)).toEqual({});
  });

  it('gives its value out when asked', () => {
    expect(secret.reveal()).toBe('key-0815');
  });
});
