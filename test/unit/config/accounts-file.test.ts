import { ConfigError } from '../../../src/config/environment';
import { loadWorkerConfig } from '../../../src/config/worker-config';

function problemOf(content: string): string {
  const env = {
    LONGHAUL_ARCHIVE: '/srv',
    LONGHAUL_ACCOUNTS_FILE: '/accounts.json',
    LONGHAUL_SERVICE_URL: 'https://s.example',
  };
  try {
    loadWorkerConfig(env, () => content);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.join('\n');
    throw error;
  }
  return '';
}

describe('a file of accounts', () => {
  it.each([
    ['a list', '[]', 'which holds a list instead of an object; give '],
    [
      'a field in other capitals',
      JSON.stringify({ studio: { apiKey: 'key-0815', serviceURL: 'https://a.example' } }),
      'account "studio" has the field "serviceURL" (did you mean "serviceUrl"?), which Longhaul does not know',
    ],
    ['a fault in its third line', '{\n  "studio": {\n    "apiKey": key-0815\n}}', 'line 3 has a syntax error'],
  ])('is refused with its fault and without a key: %s', (_, content, words) => {
    expect(problemOf(content)).toContain(words);
    expect(problemOf(content)).not.toContain('key-0815');
  });

  it('does not show a field that may be a key at the wrong place', () => {
    expect(problemOf(JSON.stringify({ studio: { apiKey: 'key-0815', 'c2VjcmV0LWtleQ==': 'x' } }))).not.toContain(
      'c2Vj',
    );
  });
});
