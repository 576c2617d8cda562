import { readVariables } from '../../../src/config/environment';

describe('a URL that is no base URL', () => {
  it.each([
    [
      'https://user:pw-0815@service.example/?a=1',
      'https://service.example/", which has credentials before its host and a query; give',
    ],
    ['https://service.example/#a', 'which has a fragment; give'],
    ['ftp://service.example', 'which has the scheme ftp instead of http or https; give'],
  ])('is refused with what it has too much, and without a secret: %s', (url, words) => {
    const { problems } = readVariables({ LONGHAUL_SERVICE_URL: url }, ['LONGHAUL_SERVICE_URL']);

    expect(problems).toEqual([expect.stringContaining(words)]);
    expect(problems.join()).not.toContain('pw-0815');
  });
});
