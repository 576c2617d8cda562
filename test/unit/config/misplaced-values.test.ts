import { loadTemporalConnection } from '../../../src/config/temporal-connection';
import { ignoredVariableWarnings } from '../../../src/config/environment';
import { loadWorkerConfig } from '../../../src/config/worker-config';

const secret = 'XfW4I+iLLZ0815kaGg8/abcdefghijklmnopqrstuv8=';
const usable = {
  LONGHAUL_ARCHIVE: '/srv/archive',
  LONGHAUL_API_KEY: 'a-key-0815',
  LONGHAUL_SERVICE_URL: 'https://s.example',
};

function unreadable(path: string): never {
  throw Object.assign(new Error(`no such file: ${path}`), { code: 'ENOENT', path });
}

function messageOf(load: () => unknown): string {
  try {
    load();
  } catch (error) {
    return (error as Error).message;
  }
  return '';
}

describe('a secret at the place of the path of its file', () => {
  it.each([
    ['LONGHAUL_API_KEY_FILE', 'sk-3f0c0815'],
    ['LONGHAUL_API_KEY_FILE', secret],
    ['LONGHAUL_CODEC_KEYS_FILE', secret],
    ['LONGHAUL_CODEC_KEYS_FILE', JSON.stringify({ current: 'k1', keys: { k1: secret } })],
    ['LONGHAUL_WEBHOOKS_FILE', `{"orders":{"secrets":["whsec_${secret}"]}}`],
    ['LONGHAUL_WEBHOOKS_FILE', 'whsec_c2VjcmV0LW9mLXRoaXMtd2ViaG9vay0wODE1'],
    ['LONGHAUL_ACCOUNTS_FILE', '{ "studio": { "apiKey": "key-0815" } }'],
    ['LONGHAUL_PRICES_FILE', '{ "prices": [] }'],
  ])('is not shown: %s', (name, value) => {
    const { LONGHAUL_API_KEY, ...others } = usable;
    const env = name === 'LONGHAUL_API_KEY_FILE' ? others : { ...others, LONGHAUL_API_KEY };
    const message = messageOf(() => loadWorkerConfig({ ...env, [name]: value }, unreadable));

    expect(message).toContain(
      `${name} is a text of ${value.length} characters that is no path, which cannot be read (ENOENT); write it to a file`,
    );
    expect(message).not.toContain(value.slice(2, -2));
  });

  it.each(['keys.json', './keys', '/run/secrets/api key', '~/key', '../keys/a'])('while a path is: %s', (file) => {
    const message = messageOf(() => loadWorkerConfig({ ...usable, LONGHAUL_CODEC_KEYS_FILE: file }, unreadable));
    expect(message).toContain(
      `LONGHAUL_CODEC_KEYS_FILE is "${file}", which cannot be read (ENOENT); give a readable file`,
    );
  });

  it('is not shown of a variable of Temporal’s', () => {
    const env = { TEMPORAL_TLS_CLIENT_KEY_PATH: `-----BEGIN PRIVATE KEY-----\n${secret}\n-----END PRIVATE KEY-----\n` };
    const message = messageOf(() => loadTemporalConnection(env));
    expect(message).toContain('characters that is no path cannot be read (ENOENT)');
    expect(message).not.toContain(secret);
  });
});

describe('a misspelt variable', () => {
  it('warns of an unknown variable and suggests the nearest known one', () => {
    const env = {
      LONGHAUL_INPUT_ROOT: '/photos',
      LONGHAUL_KEY: '1',
      LONGHAUL_TASK_QUEUE: 'gpu',
      LONGHAUL_TYPO: '1',
      LONGHAUL_ZZZZZZZZZZZZZ: '1',
      LONGHAUL_TOOLS: '/t',
      LONGHAUL_TEST_X: '1',
    };

    expect(ignoredVariableWarnings(env)).toEqual([
      'Unknown variable LONGHAUL_INPUT_ROOT is ignored; did you mean LONGHAUL_INPUT_ROOTS?',
      'Unknown variable LONGHAUL_KEY is ignored; did you mean LONGHAUL_API_KEY?',
      'Unknown variable LONGHAUL_TASK_QUEUE is ignored; give --task-queue, or taskQueue in the library',
      'Unknown variable LONGHAUL_TYPO is ignored',
      'Unknown variable LONGHAUL_ZZZZZZZZZZZZZ is ignored',
    ]);
  });
});
