import { inspect } from 'node:util';
import { loadCodecServerConfig } from '../../../src/config/codec-keys';
import { newCodecKey } from '../../support/codec-keys';
import { problemsOf } from './problems-of';

const keys = JSON.stringify({ current: 'new', keys: { new: newCodecKey() } });
const load = (env: NodeJS.ProcessEnv) =>
  loadCodecServerConfig({ LONGHAUL_CODEC_KEYS_FILE: '/keys.json', ...env }, () => keys);

describe('the configuration of a codec server', () => {
  it('listens on loopback, decodes only, and takes no page of a browser, when nothing is said', () => {
    const { config, warnings } = load({});
    expect(config).toMatchObject({ host: '127.0.0.1', port: 8081, tokens: null, origins: [], mayEncode: false });
    expect(warnings).toEqual([expect.stringMatching(/LONGHAUL_CODEC_TOKEN is not set: every program on this machine/)]);
  });

  it('is what the environment says', () => {
    const { config, warnings } = load({
      LONGHAUL_CODEC_ADDRESS: '[::]:9000',
      LONGHAUL_CODEC_TOKEN: 'token-of-tomorrow,token-of-today-16',
      LONGHAUL_CODEC_ORIGINS: 'https://temporal.example, http://localhost:8233/',
      LONGHAUL_CODEC_ENCODE: 'true',
    });
    expect(config).toMatchObject({ host: '::', port: 9_000, mayEncode: true });
    expect(config.origins).toEqual(['https://temporal.example', 'http://localhost:8233']);
    expect(config.tokens?.map((token) => token.reveal())).toEqual(['token-of-tomorrow', 'token-of-today-16']);
    expect(inspect(config, { depth: 9, showHidden: true })).not.toContain('token-of');
    expect(warnings).toEqual([]);
  });

  it.each<[string, NodeJS.ProcessEnv, RegExp]>([
    ['no keys', { LONGHAUL_CODEC_KEYS_FILE: '' }, /^LONGHAUL_CODEC_KEYS_FILE is not set; give a readable JSON file/],
    [
      'all addresses without a token',
      { LONGHAUL_CODEC_ADDRESS: '0.0.0.0:8081' },
      /other machines reach, and LONGHAUL_/,
    ],
  ])('is refused when it has %s', (_what, env, words) => {
    expect(problemsOf(() => load(env))).toEqual([expect.stringMatching(words)]);
  });
});
