import { loadWorkerConfig } from '../../../src/config/worker-config';

const file = '/etc/longhaul-ca.pem';

/** What a worker makes of a file of certificates with this text; without one, it cannot be read. */
function certificatesOf(text?: string): { extraCaCerts: string | null; warnings: readonly string[] } {
  const env = {
    LONGHAUL_SERVICE_URL: 'https://service.example',
    LONGHAUL_API_KEY: 'key-one',
    LONGHAUL_ARCHIVE: '/archive',
    NODE_EXTRA_CA_CERTS: file,
  };
  const { config, warnings } = loadWorkerConfig(env, () => {
    if (text === undefined) throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
    return text;
  });
  return { extraCaCerts: config.extraCaCerts, warnings };
}

describe('certificates of a private authority', () => {
  it('are named where Node can have read them', () => {
    const text = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';
    expect(certificatesOf(text)).toEqual({ extraCaCerts: file, warnings: [] });
  });

  it.each([
    ['cannot be read', undefined, /^NODE_EXTRA_CA_CERTS is "\/etc\/longhaul-ca\.pem".*ENOENT/],
    ['holds a key', '-----BEGIN PRIVATE KEY-----', /holds no certificate; give a file of certificates in PEM/],
    ['is empty', '', /holds no certificate/],
  ])('are warned of where the file %s', (_, text, expected) => {
    expect(certificatesOf(text)).toEqual({
      extraCaCerts: null,
      warnings: [expect.stringMatching(expected) as string],
    });
  });
});

it('is warned of proxies, which a worker does not follow', () => {
  const env = {
    LONGHAUL_SERVICE_URL: 'https://service.example',
    LONGHAUL_API_KEY: 'key-one',
    LONGHAUL_ARCHIVE: '/archive',
    https_proxy: 'http://proxy.example:3128',
    HTTP_PROXY: '',
    NO_PROXY: '*',
  };
  expect(loadWorkerConfig(env).warnings).toEqual([expect.stringMatching(/^https_proxy cannot be followed/)]);
});
