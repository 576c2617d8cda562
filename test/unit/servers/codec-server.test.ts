import { request as sendRequest } from 'undici';
import { PayloadCipher } from '../../../src/client/codec/payload-cipher';
import { startCodecServer } from '../../../src/servers/codec-server';
import type { CodecServerConfig } from '../../../src/config/codec-keys';
import { Secret } from '../../../src/config/secret';
import type { ListeningServer } from '../../../src/servers/listening-server';
import { createLogger } from '../../../src/worker/logger';
import { codecKeys, newCodecKey } from '../../support/codec-keys';
import { jsonPayload, type RawPayload } from '../../support/raw-messages';

const keys = codecKeys({ k1: newCodecKey() });
const cipher = new PayloadCipher(keys);
const tokens = ['token-of-today-16', 'token-of-tomorrow'] as const;
const webUi = 'https://temporal.example';
const prompt = 'a letter to the mayor';
const maxBodyBytes = 1_000_000;

interface Sent {
  readonly method?: 'GET' | 'OPTIONS' | 'POST' | 'PUT';
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string;
}

const log: string[] = [];
let servers: ListeningServer[] = [];
afterEach(async () => {
  for (const server of servers) server.close();
  await Promise.all(servers.map(({ closed }) => closed));
  servers = [];
  log.length = 0;
});

async function start(changed: Partial<CodecServerConfig> = {}): Promise<(sent?: Sent) => Promise<Reply>> {
  const secrets = tokens.map((token) => new Secret(token));
  const config: CodecServerConfig = {
    ...{ codecKeys: keys, host: '127.0.0.1', port: 0, tokens: secrets, origins: [webUi], mayEncode: false },
    ...{ logLevel: 'trace', ...changed },
  };
  const logger = createLogger({ level: 'trace', destination: { write: (line) => void log.push(line) } });
  const server = await startCodecServer({ config, logger, maxBodyBytes });
  servers.push(server);
  return (sent) => send(server.port, sent);
}

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

async function send(port: number, { method = 'POST', path = '/decode', headers, body }: Sent = {}): Promise<Reply> {
  const all: Readonly<Record<string, string | undefined>> = {
    authorization: `Bearer ${tokens[0]}`,
    'content-type': 'application/json',
    'x-namespace': 'default',
    ...headers,
  };
  const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const answer = await sendRequest(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: Object.fromEntries(given),
    ...(method !== 'GET' &&
      method !== 'OPTIONS' && { body: body ?? bodyOf([cipher.encrypt(jsonPayload({ prompt }))]) }),
  });
  return { status: answer.statusCode, headers: answer.headers, body: await answer.body.text() };
}

/** As Temporal's tools send them. */
function bodyOf(payloads: readonly RawPayload[]): string {
  const base64 = (bytes: Uint8Array | null | undefined): string => Buffer.from(bytes ?? []).toString('base64');
  return JSON.stringify({
    payloads: payloads.map(({ metadata, data }) => ({
      metadata: Object.fromEntries(Object.entries(metadata ?? {}).map(([name, value]) => [name, base64(value)])),
      data: base64(data),
    })),
  });
}

function payloadsIn(body: string): { encoding: string; data: string }[] {
  const { payloads } = JSON.parse(body) as { payloads: { metadata: Record<string, string>; data: string }[] };
  return payloads.map(({ metadata, data }) => ({
    encoding: Buffer.from(metadata['encoding'] ?? '', 'base64').toString(),
    data: Buffer.from(data, 'base64').toString(),
  }));
}

describe('a codec server', () => {
  it('decodes what it is sent, in its order, and leaves plain payloads as they are', async () => {
    const ask = await start();
    const encrypted = [1, 2].map((value) => cipher.encrypt(jsonPayload(value)));
    const { status, body, headers } = await ask({ body: bodyOf([...encrypted, jsonPayload('plain')]) });
    expect(status).toBe(200);
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'cache-control': 'no-store' });
    expect(payloadsIn(body)).toEqual(['1', '2', '"plain"'].map((data) => ({ encoding: 'json/plain', data })));
  });

  it.each(['/decode', '/default/decode', '/decode?a=b', '/my.namespace.acct/decode'])(
    'takes them at %s',
    async (path) => {
      const ask = await start();
      expect(await ask({ path })).toMatchObject({ status: 200 });
    },
  );

  it('leaves what it cannot read as it is, decodes the rest, and says why in its log', async () => {
    const ask = await start();
    const foreign = new PayloadCipher(codecKeys({ k7: newCodecKey() })).encrypt(jsonPayload(7));
    const broken = { ...cipher.encrypt(jsonPayload(8)), data: Buffer.from('short') };
    const { status, body } = await ask({ body: bodyOf([foreign, broken, cipher.encrypt(jsonPayload(9))]) });
    expect(status).toBe(200);
    expect(payloadsIn(body).map(({ encoding }) => encoding)).toEqual([
      'binary/longhaul-aes-256-gcm',
      'binary/longhaul-aes-256-gcm',
      'json/plain',
    ]);
    expect(log.join('')).toMatch(/"unreadable":\{"payloads":2,"reason":"LONGHAUL_CODEC_KEYS_FILE has no key \\"k7\\"/);
  });

  it('encodes only when it is told to, and then so that it decodes it again', async () => {
    const refused = await (await start())({ path: '/encode', body: bodyOf([jsonPayload({ prompt })]) });
    expect(refused).toMatchObject({ status: 403, body: expect.stringContaining('LONGHAUL_CODEC_ENCODE') as string });

    const ask = await start({ mayEncode: true });
    const encoded = await ask({ path: '/encode', body: bodyOf([jsonPayload({ prompt })]) });
    expect(encoded.status).toBe(200);
    expect(encoded.body).not.toContain(Buffer.from(prompt).toString('base64').slice(4, 20));
    expect(payloadsIn((await ask({ body: encoded.body })).body)).toEqual([
      { encoding: 'json/plain', data: JSON.stringify({ prompt }) },
    ]);
  });

  it('answers /live, /ready and /health without a token, and tells nothing', async () => {
    const ask = await start();
    for (const path of ['/live', '/ready', '/health']) {
      const headers = { authorization: undefined };
      expect(await ask({ method: 'GET', path, headers })).toMatchObject({ status: 200, body: '' });
    }
  });

  it('takes either token, and needs none where none is set', async () => {
    const ask = await start();
    expect(await ask({ headers: { authorization: `Bearer ${tokens[1]}` } })).toMatchObject({ status: 200 });
    const open = await start({ tokens: null });
    expect(await open({ headers: { authorization: undefined } })).toMatchObject({ status: 200 });
  });
});

describe('a request that a codec server refuses', () => {
  it.each<[string, number, Sent]>([
    ['without a token', 401, { headers: { authorization: undefined } }],
    ['with another token', 401, { headers: { authorization: `Bearer ${'x'.repeat(17)}` } }],
    ['to encode without a token', 401, { path: '/encode', headers: { authorization: undefined } }],
    ['to another path', 404, { path: '/' }],
    ['to a path with two parts in front', 404, { path: '/a/b/decode' }],
    ['by GET', 405, { method: 'GET' }],
    ['with half a body', 400, { body: '{"payloads": [' }],
    ['with a body of another form', 400, { body: '{"payloads": {}}' }],
    ['with metadata that is no text', 400, { body: '{"payloads": [{"metadata": {"encoding": 1}}]}' }],
    ['with JSON that is nested very deeply', 400, { body: `${'['.repeat(40_000)}${']'.repeat(40_000)}` }],
    ['with a body that is too large', 413, { body: 'x'.repeat(maxBodyBytes + 1) }],
    ['with too many payloads', 413, { body: JSON.stringify({ payloads: Array.from({ length: 10_001 }, () => 1) }) }],
  ])('%s is answered with %i and decodes nothing', async (_what, status, sent) => {
    const ask = await start();
    const reply = await ask(sent);
    expect(reply.status).toBe(status);
    expect(reply.body).toBe('');
  });

  it('has too much metadata, although it is small', async () => {
    const metadata = Object.fromEntries(Array.from({ length: 50_001 }, (_, index) => [index.toString(36), '']));
    const body = JSON.stringify({ payloads: [{ metadata }] });
    expect(body.length).toBeLessThan(maxBodyBytes);
    expect(await (await start())({ body })).toMatchObject({ status: 413, body: '' });
    expect(log.join('')).toContain('too much in it');
  });

  it('comes from a page of another origin, whatever else is right, and no browser may read the answer', async () => {
    const ask = await start({ tokens: null });
    for (const origin of ['http://temporal.example', `${webUi}:444`, `${webUi}.evil`, 'null', '']) {
      for (const method of ['POST', 'OPTIONS'] as const) {
        const { status, headers, body } = await ask({ method, headers: { origin } });
        expect([origin, status, body]).toEqual([origin, 403, '']);
        expect(headers['access-control-allow-origin']).toBeUndefined();
      }
    }
  });
});

describe('a page of an allowed origin', () => {
  it('is told before it calls what it may send, and may read the answer', async () => {
    const ask = await start();
    const headers = {
      origin: webUi,
      authorization: undefined,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,x-namespace',
    };
    expect(await ask({ method: 'OPTIONS', headers })).toMatchObject({
      status: 204,
      headers: {
        'access-control-allow-origin': webUi,
        'access-control-allow-methods': 'POST, OPTIONS',
        'access-control-allow-headers': 'authorization, content-type, x-namespace',
        vary: 'origin',
      },
    });
    expect(await ask({ headers: { origin: webUi } })).toMatchObject({
      status: 200,
      headers: { 'access-control-allow-origin': webUi },
    });
  });

  it('needs the token as everybody does, and may read that it is wrong', async () => {
    const ask = await start();
    const refused = await ask({ headers: { origin: webUi, authorization: 'Bearer of-another-system' } });
    expect(refused).toMatchObject({ status: 401, headers: { 'access-control-allow-origin': webUi } });
  });
});

describe('the log of a codec server', () => {
  it('says who asked for how many payloads, and holds no token, no key and nothing of a payload', async () => {
    const ask = await start({ mayEncode: true });
    await ask({ headers: { 'x-namespace': 'studio' } });
    await ask({ path: '/encode', body: bodyOf([jsonPayload({ prompt })]) });
    await ask({ headers: { authorization: 'Bearer wrong-token-of-someone' } });
    await ask({ body: `{"payloads": "${prompt}"}` });
    const lines = log.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines).toContainEqual(
      expect.objectContaining({ msg: 'codec request', outcome: 'decoded', namespace: 'studio', payloads: 1 }),
    );
    const text = log.join('');
    const [key = ''] = [...keys.keys.values()].map((secret) => secret.reveal());
    for (const secret of [...tokens, 'wrong-token', prompt, key, Buffer.from(prompt).toString('base64').slice(4, 16)]) {
      expect(text).not.toContain(secret);
    }
  });
});
