import { join } from 'node:path';
import { Readable } from 'node:stream';
import {
  ServiceArgumentError,
  ServiceClient,
  type ServiceClientOptions,
  ServiceClosedError,
} from '../../../src/service';
import { startHttpServer, type TestHttpServer } from '../../support/start-http-server';

let server: TestHttpServer;
let client: ServiceClient;

beforeAll(async () => {
  server = await startHttpServer((_request, response) => {
    response.end('{}');
  });
  client = new ServiceClient({ baseUrl: server.url, apiKey: 'key' });
});
afterAll(async () => {
  await client.close();
  await server.close();
});

/** What a program in JavaScript may write. */
const any = (value: unknown) => value as never;

describe('the options of a client', () => {
  const secret = 'sk-0123456789';
  it.each<[string, unknown]>([
    ['The options are missing; give { baseUrl, apiKey }.', undefined],
    ['Unknown option "apikey"; did you mean apiKey?', { apikey: secret }],
    ['apiKey is missing; give the key, or a function that returns it.', {}],
    ['apiKey is empty; give the key', { apiKey: ' ' }],
    ['apiKey is of the type object; give the key', { apiKey: { key: secret } }],
    ['baseUrl is missing; give an http or https URL', { apiKey: secret, baseUrl: undefined }],
    ['baseUrl is ""; give an http', { apiKey: secret, baseUrl: '' }],
    ['baseUrl is "service.example"; give an http', { apiKey: secret, baseUrl: 'service.example' }],
    ['baseUrl is "ftp://h"; give an http', { apiKey: secret, baseUrl: 'ftp://h' }],
    ['baseUrl is one with user information', { apiKey: secret, baseUrl: `https://me:${secret}@a.example` }],
    ['baseUrl is one with user information, a query', { apiKey: secret, baseUrl: 'http://h/?a=1' }],
    ['timeouts: Unknown option "read"; did you mean readMs?', { apiKey: secret, timeouts: { read: 1 } }],
    ['timeouts: readMs is -1; give a number of milliseconds above 0', { apiKey: secret, timeouts: { readMs: -1 } }],
    // Longer than any timer, which would be over at once.
    ['timeouts: syncMs is 2147483648; give', { apiKey: secret, timeouts: { syncMs: 2 ** 31 } }],
    ['secrets is something else; give a list of texts.', { apiKey: secret, secrets: secret }],
  ])('are refused in words that quote no secret: %s', (words, options) => {
    const given = options === undefined ? options : { baseUrl: server.url, ...(options as object) };
    const build = () => new ServiceClient(given as ServiceClientOptions);
    expect(build).toThrow(ServiceArgumentError);
    expect(build).toThrow(words);
    expect(build).not.toThrow(secret);
  });
});

describe('what a call is given', () => {
  const licence = join(__dirname, '../../../LICENSE');
  const create = (inputValues: unknown, options = {}) =>
    client.createTask({ webAppId: 1, inputValues: any(inputValues) }, options);
  const classOf = 'is an object of the class';
  it.each<[string, () => Promise<unknown>]>([
    ['requestId is missing; give a text.', () => client.getTask(any(undefined))],
    ['Unknown option "timeout"; did you mean timeoutMs?', () => client.getTask('r', any({ timeout: 1 }))],
    [
      'poll is {"minMs":1,"maxMs":2147483648}; give { minMs, maxMs }, the smaller first, each a number of milliseconds',
      () => client.waitForTask('r', { poll: { minMs: 1, maxMs: 2 ** 31 } }),
    ],
    ['poll is {"minMs":2,"maxMs":1}; give', () => client.waitForTask('r', { poll: { minMs: 2, maxMs: 1 } })],
    ['The request is missing; give { webAppId, inputValues }.', () => client.createTask(any(undefined))],
    ['Unknown field "inputs"; did you mean inputValues?', () => client.createTask(any({ webAppId: 1, inputs: {} }))],
    [`inputValues ${classOf} Map; give an object such as`, () => create(new Map([['2:ImageScale.width', 64]]))],
    [`inputValues["2:T.t"] ${classOf} Date; give a text, such as its toISO`, () => create({ '2:T.t': new Date(0) })],
    [`The file ${classOf} URL; give its path, which file`, () => client.uploadFile(any(new URL('file:///a.png')))],
    [`The file ${classOf} URL; give a path, bytes (a`, () => client.uploadFile(any(new URL('https://h/a.png')))],
    [`headers ${classOf} Headers; give an object.`, () => create({}, { headers: any(new Headers({ 'X-A': '17' })) })],
    ['The uploaded object is missing; give { name, objectKey }.', () => client.commitInput(any(undefined))],
    ['The file is missing; give a path, bytes', () => client.uploadFile(any(undefined))],
    ['name is missing; give a file name', () => client.uploadFile(any(Buffer.from('x')))],
    ...['x', 'x.', '.png'].map((name): [string, () => Promise<unknown>] => [
      `name is "${name}"; give a file name without folders and with its extension, such as "photo.png".`,
      () => client.uploadFile(Buffer.from('x'), { name }),
    ]),
    ['name is "LICENSE"; give a file name', () => client.uploadFile(licence)],
  ])('is refused before anything is sent: %s', async (words, call) => {
    const before = server.requests.length;
    const error: unknown = await call().catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ServiceArgumentError);
    expect((error as Error).message).toContain(words);
    expect(server.requests).toHaveLength(before);
  });
});

describe('all that is wrong with a call', () => {
  async function problemsOf(call: () => unknown): Promise<readonly string[]> {
    try {
      await call();
    } catch (error) {
      if (error instanceof ServiceArgumentError) return error.problems;
      throw error;
    }
    return [];
  }

  const notNow = any('now');
  it.each<[string, () => unknown, string[]]>([
    [
      'a client',
      () => new ServiceClient({ baseUrl: 'a.example', apiKey: ' ', headerPrefix: '' }),
      ['headerPrefix is ""', 'baseUrl is "a.example"', 'apiKey is empty'],
    ],
    [
      'a query',
      () => client.getTask('', { signal: notNow, timeoutMs: 0 }),
      ['requestId is ""', 'signal is', 'timeoutMs'],
    ],
    ['a wait', () => client.waitForTask(' ', any({ timeout: 1 })), ['requestId is " "', 'Unknown option "timeout"']],
    [
      'a commit',
      () => client.commitInput({ name: '', objectKey: '' }, { timeoutMs: -1 }),
      ['name', 'objectKey', 'timeoutMs'],
    ],
    [
      'a list',
      () => client.listInputs({ current: 0, ext: '' }, { timeoutMs: 0 }),
      ['current is 0', 'ext is ""', 'timeoutMs'],
    ],
    ['a token', () => client.getUploadToken('', { signal: notNow }), ['fileName is ""', 'signal is "now"']],
    [
      'an upload',
      () => client.uploadFile(any(Buffer.from('x')), any({ names: 'a' })),
      ['name is missing', 'Unknown option'],
    ],
    [
      'a create',
      () =>
        client.createTask(any({ webAppId: '1', inputValues: { a: NaN, b: true } }), {
          timeoutMs: 0,
          callback: any({ url: 'me', tokn: 'x', token: 'Bearer x' }),
          headers: { 'X-Other': '1', 'X-Svc-Task-Async': 'no', 'X-Svc-Task-A': 'a\nb' },
        }),
      [
        'webAppId is "1"; give a whole number.',
        'inputValues["a"] is NaN; give a text or a finite number.',
        'inputValues["b"] is true; give a text or a finite number.',
        'timeoutMs is 0; give',
        'Unknown field callback.tokn; did you mean token?',
        'callback.url is no absolute URL; give one',
        'callback.token begins with "Bearer ", which is put before it; give the token alone.',
        'The header "X-Other" cannot be sent; give a header name that begins with X-Svc-Task-.',
        'The header "X-Svc-Task-Async" is set by the mode',
        'The header "X-Svc-Task-A" has another value than a text in printable ASCII',
      ],
    ],
    [
      'a synchronous create',
      () => client.createTaskSync(any(undefined), any({ callback: {}, headers: 5 })),
      ['The request is missing', 'Unknown option "callback"', 'headers is 5; give an object.'],
    ],
  ])('is told at once: of %s', async (_name, call, expected) => {
    const before = server.requests.length;
    const problems = await problemsOf(call);
    expect(problems).toEqual(expected.map((words) => expect.stringContaining(words) as string));
    expect(server.requests).toHaveLength(before);
  });

  it('refuses a stream of objects for an upload, and the process goes on', async () => {
    const stream = Readable.from([Buffer.from('x'), { a: 1 }]);
    const before = server.requests.length;
    await expect(client.uploadFile(stream, { name: 'a.png' })).rejects.toThrow(
      'the stream brought a value that is no bytes (object); give bytes or text',
    );
    expect(server.requests).toHaveLength(before);
  });

  it('closes the stream of an upload that is refused', async () => {
    const stream = Readable.from(['x']);
    expect(await problemsOf(() => client.uploadFile(stream, any({})))).toHaveLength(1);
    expect(stream.destroyed).toBe(true);
  });

  it('closes the stream of an upload that was aborted before it began', async () => {
    const stream = Readable.from(['x']);
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(client.uploadFile(stream, { name: 'a.png', signal })).rejects.toThrow('enough');
    expect(stream.destroyed).toBe(true);
  });
});

it('a client that is closed, and once more, sends nothing and says so at once; a create is not sent', async () => {
  const closed = new ServiceClient({ baseUrl: server.url, apiKey: 'key' });
  await closed.close();
  await closed.close();
  const before = server.requests.length;
  await expect(closed.getTask('r')).rejects.toThrow(ServiceClosedError);
  await expect(closed.waitForTask('r')).rejects.toThrow(ServiceClosedError);
  await expect(closed.createTaskSync({ webAppId: 1, inputValues: {} })).rejects.toThrow(ServiceClosedError);
  const outcome = await closed.createTask({ webAppId: 1, inputValues: {} });
  expect(outcome).toMatchObject({ outcome: 'notSent', reason: expect.stringContaining('is closed') as string });
  expect(server.requests).toHaveLength(before);
});
