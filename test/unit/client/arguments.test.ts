import { Client, Connection } from '@temporalio/client';
import { InputInvalidError, type ListTasksOptions, Longhaul } from '../../../src/index';
import { asOperator } from '../../../src/operator';

const task = { webAppId: 1, inputs: {} };
const rows = { location: '/srv/rows.jsonl', digest: 'ab', rows: 3, pages: 1 };

let connection: Connection;
let longhaul: Longhaul;
beforeAll(() => {
  // Nothing listens there: what is not refused before it is sent fails otherwise.
  connection = Connection.lazy({ address: '127.0.0.1:1', connectTimeout: 1 });
  longhaul = new Longhaul({ client: new Client({ connection }) });
});
afterAll(() => connection.close());

type Call = (client: Longhaul) => unknown;

// @ts-expect-error -- a status that is not known is an error of types, too
const misspeltStatus: ListTasksOptions = { status: 'Runing' };

/** A call as JavaScript may make it: the arguments are what the types would refuse. */
function calling(method: keyof Longhaul, ...given: readonly unknown[]): Call {
  return (client) => Reflect.apply(Reflect.get(client, method) as (...all: unknown[]) => unknown, client, given);
}

/** The same of a handle of a task or batch. */
function callingHandle(of: 'task' | 'batch', method: string, ...given: readonly unknown[]): Call {
  return (client) => {
    const handle: object = of === 'task' ? client.task('order-1') : client.batch('photos');
    return Reflect.apply(Reflect.get(handle, method) as (...all: unknown[]) => unknown, handle, given);
  };
}

/** Every problem that a call is refused with; of an iteration those of its beginning. */
async function problemsOf(call: Call): Promise<readonly string[]> {
  try {
    const made = await call(longhaul);
    if (typeof made === 'object' && made !== null && Symbol.asyncIterator in made) {
      await (made as AsyncIterable<unknown>)[Symbol.asyncIterator]().next();
    }
  } catch (error) {
    if (error instanceof InputInvalidError) return error.problems;
    throw error;
  }
  return [];
}

/** What each problem is about: its first two words. */
function named(problems: readonly string[]): string[] {
  return problems.map((problem) => problem.split(' ', 2).join(' ')).sort();
}

const unknown = 'Unknown option';

describe('an option that is not known or has a value of another type', () => {
  it.each<[Call, string[]]>([
    [calling('start', task, { Retry: true }), [unknown]],
    [calling('start', task, { signal: 5, retry: 'yes', traceparent: 7 }), ['retry is', 'signal is', 'traceparent is']],
    [calling('start', task, { tags: 'run:a1' }), ['tags is']],
    [calling('start', task, new Map([['retry', true]])), ['The options']],
    [calling('start', task, null), ['The options']],
    [calling('adopt', 'r-1', { tagz: ['a'] }), [unknown]],
    [calling('startBatch', { id: 'b', rows }, { trace: '' }), [unknown]],
    [calling('list', { tagz: ['a'] }), [unknown]],
    [calling('list', { tags: [], limit: -1, since: null, running: false }), ['limit', 'running', 'since', 'tags']],
    [calling('list', { since: new Date(NaN) }), ['since is']],
    [calling('list', { app: 'portraits' }), ['app is']],
    [calling('list', 'Running'), ['The options']],
    [calling('listBatches', { runing: true, running: false }), [unknown, 'running is']],
    [callingHandle('task', 'result', { sig: 1 }), [unknown]],
    [callingHandle('task', 'status', { signal: 5 }), ['signal is']],
    [callingHandle('task', 'outputs', { every: 5 }), [unknown]],
    [callingHandle('batch', 'status', { wait: 5 }), [unknown]],
    [callingHandle('task', 'events', { every: 5, everyMs: -1 }), [unknown, 'everyMs is']],
    [callingHandle('task', 'events', { everyMs: 2 ** 31, quietEveryMs: Infinity }), ['everyMs is', 'quietEveryMs is']],
    [callingHandle('batch', 'setConcurrency', 0), ['rows is']],
    [callingHandle('batch', 'setConcurrency', undefined), ['rows is']],
    [callingHandle('batch', 'setBudget', 'lots'), ['budget is']],
    [callingHandle('batch', 'setBudget', undefined), ['budget is']],
    [(client) => asOperator(client).sweeps.install(5), ['everyMs is']],
    [(client) => asOperator(client).sweeps.install('600000' as never), ['everyMs is']],
  ])('is refused by its name (%#)', async (call, expected) => {
    const problems = named(await problemsOf(call));
    expect(problems).toEqual(expected.map((words) => expect.stringContaining(words) as string));
  });

  it('is refused with the nearest name that is known', async () => {
    expect(await problemsOf(calling('start', task, { Retry: true }))).toEqual([
      expect.stringContaining('Unknown option "Retry"; did you mean retry? Known are'),
    ]);
  });

  it.each<[object, string]>([
    [{ adress: 'temporal:7233' }, 'Unknown option "adress"; did you mean address?'],
    [{ archive: 's3://x/y' }, 'archive is "s3://x/y"; give openArchive({ place })'],
    [{ staging: 's3://x/y' }, 'staging is "s3://x/y"; give openStaging({ place })'],
    [{ webUiUrl: 'not url' }, 'webUiUrl is "not url"'],
    [{ address: 7233 }, 'address is 7233; give host:port'],
    [{ address: 'http://temporal' }, 'address is "http://temporal"; give host:port without'],
  ])('of a connection is refused before anything is connected: %j', async (options, words) => {
    await expect(Longhaul.connect(options)).rejects.toThrow(InputInvalidError);
    await expect(Longhaul.connect(options)).rejects.toThrow(words);
  });

  it('of a connection is blamed itself when nothing listens at an address', async () => {
    const connecting = Longhaul.connect({ env: { TEMPORAL_CONFIG_FILE: '' }, address: '127.0.0.1:1' });
    await expect(connecting).rejects.toThrow(
      /Temporal at 127.0.0.1:1 .*is the address that connect was given right\?$/,
    );
  });

  it('is taken of the Web UI as the environment’s is, without the slash at its end', () => {
    const { url } = new Longhaul({ client: new Client({ connection }), webUiUrl: 'http://localhost:8233/' }).task('a');
    expect(url).toMatch(/^http:\/\/localhost:8233\/namespaces\//);
  });

  it('of a client of one’s own is refused', () => {
    const build = (options: unknown) => () => new Longhaul(options as { client: Client });
    expect(build({ client: new Client({ connection }), queue: 'q' })).toThrow('Unknown option "queue"');
    expect(build({ client: connection })).toThrow(InputInvalidError);
    expect(build({ client: new Client({ connection }), taskQueue: 7 })).toThrow('taskQueue is 7; give a text.');
    expect(build({ clientt: new Client({ connection }) })).toThrow('did you mean client?');
    expect(build({})).toThrow('client is missing; give a Client of @temporalio/client.');
    expect(build(undefined)).toThrow('client is missing; give a Client of @temporalio/client.');
  });

  it('of a list is refused by the types and at run time when the status is not known', async () => {
    expect(await problemsOf((client) => client.list(misspeltStatus))).toEqual([
      expect.stringContaining('status is "Runing"; give one of'),
    ]);
  });

  it('of a list is told by its name, with the place in a list of values', async () => {
    const options = { tags: ['a', 5], keyPrefix: 'order/', batch: 'a b', account: 'é', requestIds: ['r-1', 'r 2'] };
    expect(named(await problemsOf(calling('list', options)))).toEqual([
      ...['account is', 'batch is', 'keyPrefix is', 'requestIds is', 'tags[1] is'],
    ]);
  });

  it('of a list is told with all others, whether of type, name or value', async () => {
    const options = { status: 'Runing', app: 'x', tags: 'a', failure: 'no', since: 'soon', limitt: 1, keyPrefix: '' };
    expect(named(await problemsOf(calling('list', options)))).toEqual([
      ...['Unknown option', 'app is', 'failure is', 'keyPrefix is', 'since is', 'status is', 'tags is'],
    ]);
  });

  it('is no problem when it is left out or undefined', async () => {
    expect(await problemsOf(callingHandle('task', 'outputs', { signal: undefined }))).toEqual([
      expect.stringContaining('This client has no archive'),
    ]);
    expect(await problemsOf(calling('list', { tags: ['a'], app: '4711', limit: 0 }))).toEqual([]);
  });
});

describe('a key or an id that is missing', () => {
  it.each([
    ['undefined', undefined],
    ['null', null],
  ])('is refused, for a random one would pay at each call: %s', async (name, key) => {
    expect(await problemsOf(calling('start', { ...task, key }))).toEqual([
      expect.stringMatching(
        new RegExp(`^key is there and ${name}; give 1 to 80 letters.*or leave key out for a random`),
      ),
    ]);
    expect(await problemsOf(calling('adopt', 'r-1', { key }))).toEqual([
      expect.stringMatching(new RegExp(`^key is there and ${name}; .*leave key out for one that the request id gives`)),
    ]);
    expect(await problemsOf(calling('startBatch', { id: key, rows }))).toHaveLength(1);
  });

  it.each<[Call, string]>([
    [calling('start', { ...task, key: 17 }), 'key is 17; give 1 to 80 letters'],
    [calling('task', 17), 'The key or workflow id is 17; give'],
    [calling('task', undefined), 'The key or workflow id is missing; give'],
    [calling('startBatch', { id: 17, rows }), 'id is 17; give 1 to 80'],
    [calling('batch', undefined), 'The batch id is missing; give'],
    [calling('batch', '.x'), 'The batch id is ".x"; give 1 to 80'],
    [calling('adopt', undefined), 'The request id is missing; give'],
    [(client) => asOperator(client).dailyBudget(undefined as never), 'The account missing does not match'],
    [calling('start', { ...task, createNumber: 2 }), 'createNumber is there, and only Longhaul sets it'],
    [calling('start', { adopt: { requestId: 'r-1' } }), 'adopt is no field of a start; call adopt('],
    [calling('adopt', 'r-1', { createNumber: 2 }), 'Unknown option "createNumber"'],
    [calling('start'), 'There is no input; give { webAppId, inputs }'],
    [calling('startBatch', { id: 'b', rows: [] }), 'which prepareRows of @longhaul/client/row-files'],
    [calling('startBatch'), 'There is no input; give { id, rows }'],
  ])('is refused with what to give (%#)', async (call, words) => {
    expect(await problemsOf(call)).toEqual([expect.stringContaining(words)]);
  });

  it.each(['tags', 'account', 'keyPrefix', 'problem'])(
    'of a list’s filter is refused, for it would list what others started: %s',
    async (name) => {
      expect(await problemsOf(calling('list', { [name]: undefined }))).toEqual([
        expect.stringContaining(`${name} is there and undefined`),
      ]);
    },
  );
});

describe('an input', () => {
  it('of a batch with fields that are not known is refused with all of them, and the nearest that are', async () => {
    const input = { id: 'b', rows, budgit: '0EUR', webhok: 'orders', concurrency: 0 };
    expect(await problemsOf(calling('startBatch', input))).toEqual([
      expect.stringMatching(/^Unknown field "budgit"; did you mean budget\? Known are id, rows,/),
      expect.stringMatching(/^Unknown field "webhok"; did you mean webhook\?/),
      expect.stringMatching(/^concurrency is 0;/),
    ]);
  });

  it('lists the problems of input and options at once', async () => {
    const problems = await problemsOf(calling('start', { webAppId: 0, inputs: {}, key: 'a b' }, { retri: true }));
    expect(problems).toEqual([
      expect.stringContaining('key is "a b"'),
      expect.stringContaining('did you mean retry?'),
      expect.stringContaining('webAppId is 0'),
    ]);
  });

  it('that is a file and a content at once is refused', async () => {
    const start: Call = (client) =>
      client.start({
        webAppId: 1,
        // @ts-expect-error an input is a file or a content
        inputs: { '1:A.b': { file: 's3://photos/a.png', content: Buffer.from('a'), name: 'a.png' } },
      });
    expect(await problemsOf(start)).toEqual(['inputs["1:A.b"] has file and content; give one of them.']);
    const unnamed = { '1:A.b': { file: 's3://photos/a.png', content: Buffer.from('a') } };
    expect(await problemsOf(calling('start', { webAppId: 1, inputs: unnamed }))).toEqual([
      'inputs["1:A.b"] has file and content; give one of them.',
    ]);
  });

  it('that is a content has a name of at most 100 characters', async () => {
    const inputs = { '1:A.b': { content: Buffer.from('a'), name: `${'a'.repeat(296)}.png` } };
    expect(await problemsOf(calling('start', { webAppId: 1, inputs }))).toEqual([
      expect.stringMatching(/^inputs\["1:A.b"\].name is "a+….* of at most 100 characters\.$/),
    ]);
  });

  it('that is a file or content has no other fields', async () => {
    const inputs = { '1:A.b': { file: 's3://photos/a.png', name: 'a.png' } };
    expect(await problemsOf(calling('start', { webAppId: 1, inputs }))).toEqual([
      'inputs["1:A.b"]: Unknown field "name"; known are file, as, sha256.',
    ]);
    const content = { '1:A.b': { content: Buffer.from('a'), nane: 'a.png' } };
    expect(await problemsOf(calling('start', { webAppId: 1, inputs: content }))).toEqual([
      'inputs["1:A.b"]: Unknown field "nane"; did you mean name? Known are content, name, as.',
      expect.stringContaining('name is missing'),
    ]);
  });

  it.each<[string, unknown, string]>([
    ['an ArrayBuffer', new ArrayBuffer(2), 'an object of the class ArrayBuffer'],
    ['a promise', Promise.resolve(), 'an object of the class Promise'],
  ])('whose content is %s is refused by that name', async (_, content, words) => {
    const inputs = { '1:A.b': { content, name: 'a.png' } };
    const [problem, ...others] = await problemsOf(calling('start', { webAppId: 1, inputs }));
    expect(problem).toContain(`inputs["1:A.b"].content is ${words}; give a Buffer`);
    expect(others).toEqual([]);
  });

  it.each<[string, unknown, string]>([
    ['bytes alone', Buffer.from('x'), 'is bytes without a name; give { content, name: "photo.jpg" }'],
    ['no byte', { content: Buffer.alloc(0), name: 'a.png' }, 'is empty; give a content'],
    ['a name with folders', { content: Buffer.from('x'), name: '../a.png' }, '.name is "../a.png"; give a file name'],
    ['no name', { content: Buffer.from('x') }, '.name is missing; give a file name'],
  ])('that is %s is refused', async (_, content, words) => {
    const [problem, ...others] = await problemsOf(calling('start', { webAppId: 1, inputs: { '1:A.b': content } }));
    expect(problem).toContain(`inputs["1:A.b"]${words.startsWith('.') ? '' : ' '}${words}`);
    expect(others).toEqual([]);
  });

  it('that is no number is called so', async () => {
    expect(await problemsOf(calling('start', { webAppId: NaN, inputs: { '1:A.b': Infinity } }))).toEqual([
      expect.stringMatching(/^inputs\["1:A.b"\] is Infinity;/),
      expect.stringMatching(/^webAppId is NaN;/),
    ]);
  });
});
