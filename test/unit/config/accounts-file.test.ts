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
    ['a list', '[]', 'the file should be an object with the accounts by name'],
    [
      'a field in other capitals',
      JSON.stringify({ studio: { apiKey: 'key-0815', serviceURL: 'https://a.example' } }),
      'studio has fields that Longhaul does not know: "serviceURL"; it takes apiKey',
    ],
    [
      'a field of another name',
      JSON.stringify({ studio: { apiKey: 'key-0815', url: 'https://a.example' } }),
      'studio has fields that Longhaul does not know',
    ],
    [
      'a name that can be none',
      JSON.stringify({ 'bad name!': { apiKey: 'key-0815' } }),
      'a name should be a name of 1 to 80 letters',
    ],
    [
      'a URL that is none',
      JSON.stringify({ studio: { apiKey: 'key-0815', serviceUrl: 'key-0815' } }),
      'studio.serviceUrl should be the base URL',
    ],
    [
      'a rate that is a text',
      JSON.stringify({ studio: { apiKey: 'key-0815', pollsPerSecond: 'key-0815' } }),
      'studio.pollsPerSecond should be a number',
    ],
    ['a fault in its third line', '{\n  "studio": {\n    "apiKey": key-0815\n}}', 'see line 3'],
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
