import { Client, Connection } from '@temporalio/client';
import { InputInvalidError, type ListTasksOptions, Longhaul } from '../../../src/index';

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

describe('an option that is not known or has a value of another type', () => {
  it.each<[string, Call, string[]]>([
    ['of a start', calling('start', task, { Retry: true }), ['Unknown option "Retry"; did you mean retry? Known are']],
    ['of a start, as a number', calling('start', task, { signal: 5 }), ['signal is 5; give an AbortSignal.']],
    ['of a start, as text', calling('start', task, { retry: 'yes' }), ['retry is "yes"; give true or false.']],
    [
      'of a start, in the singular',
      calling('start', task, { tag: ['a'] }),
      ['Unknown option "tag"; did you mean tags?'],
    ],
    [
      'of a start, in a Map',
      calling('start', task, new Map([['retry', true]])),
      ['The options are an object of the cl'],
    ],
    ['of a start, null', calling('start', task, null), ['The options are null; give an object']],
    ['of a start with tags', calling('start', task, { tags: 'run:a1' }), ['tags is "run:a1"; give a list of texts.']],
    [
      'of a start with a trace',
      calling('start', task, { traceparent: 7 }),
      ['traceparent is 7; give a W3C traceparent'],
    ],
    ['of an adoption', calling('adopt', 'r-1', { tagz: ['a'] }), ['Unknown option "tagz"; did you mean tags?']],
    ['of a batch', calling('startBatch', { id: 'b', rows }, { trace: '' }), ['Unknown option "trace"; did you mean']],
    ['of a list', calling('list', { tag: ['x'] }), ['Unknown option "tag"; did you mean tags?']],
    ['of a list, another', calling('list', { tagz: ['a'] }), ['Unknown option "tagz"; did you mean tags?']],
    ['of a list with one tag', calling('list', { tags: 'run:a1' }), ['tags is "run:a1"; give a list of one or more']],
    ['of a list with no tag', calling('list', { tags: [] }), ['tags is []; give a list of one or more']],
    ['of a list with a limit below 0', calling('list', { limit: -1 }), ['limit is -1; give a whole number from 0.']],
    ['of a list since null', calling('list', { since: null }), ['since is null; give a Date']],
    ['of a list since no time', calling('list', { since: new Date(NaN) }), ['since is Invalid Date; give a Date']],
    ['of a list, a text', calling('list', 'Running'), ['The options are "Running"; give an object']],
    ['of batches', calling('listBatches', { runing: true }), ['Unknown option "runing"; did you mean running?']],
    ['of batches, as text', calling('listBatches', { running: 'yes' }), ['running is "yes"; give true, or leave']],
    ['of batches, its opposite', calling('listBatches', { running: false }), ['running is false; give true, or leave']],
    ['of a list, its opposite', calling('list', { running: false }), ['running is false; give true, or leave it out']],
    ['of a result', callingHandle('task', 'result', { sig: 1 }), ['Unknown option "sig"; did you mean signal?']],
    ['of a status', callingHandle('task', 'status', { signal: 5 }), ['signal is 5; give an AbortSignal.']],
    ['of outputs', callingHandle('task', 'outputs', { every: 5 }), ['Unknown option "every"; known are signal.']],
    ['of the status of a batch', callingHandle('batch', 'status', { wait: 5 }), ['Unknown option "wait"; known are']],
    [
      'of events',
      callingHandle('task', 'events', { every: 5, everyMs: -1 }),
      ['Unknown option "every"', 'everyMs is -1;'],
    ],
    [
      'of events, with pauses longer than any timer',
      callingHandle('task', 'events', { everyMs: 2 ** 31, quietEveryMs: Infinity }),
      ['everyMs is 2147483648; give a number of milliseconds above 0, at most 2147483647', 'quietEveryMs is Infinity;'],
    ],
  ])('%s is refused by name', async (_, call, expected) => {
    const problems = await problemsOf(call);
    expect(problems).toEqual(expected.map((words) => expect.stringContaining(words) as string));
  });

  it.each<[string, object, string]>([
    ['a name', { adress: 'temporal:7233' }, 'Unknown option "adress"; did you mean address?'],
    ['an archive as text', { archive: 's3://x/y' }, 'archive is "s3://x/y"; give openArchive({ place })'],
    ['a staging as text', { staging: 's3://x/y' }, 'staging is "s3://x/y"; give openStaging({ place })'],
    [
      'a Web UI that is no URL',
      { webUiUrl: 'not url' },
      'webUiUrl is "not url"; give the base URL of Temporal’s Web UI',
    ],
    ['an address as a port', { address: 7233 }, 'address is 7233; give host:port'],
    [
      'an address with a scheme',
      { address: 'http://temporal' },
      'address is "http://temporal"; give host:port without',
    ],
  ])('of a connection is refused before anything is connected: %s', async (_, options, words) => {
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
    expect(await problemsOf(calling('list', { tags: ['a'], limit: 0 }))).toEqual([]);
  });
});

it('a list of the tasks of an app is refused for what is no number of an app, rather than empty', async () => {
  expect(await problemsOf(calling('list', { app: 'portraits' }))).toEqual([
    'app is "portraits"; give the number of an app (webAppId), such as 4711.',
  ]);
  expect(await problemsOf(calling('list', { app: '4711', limit: 0 }))).toEqual([]);
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

  it.each<[string, Call, string]>([
    ['of a task, a number', calling('start', { ...task, key: 17 }), 'key is 17; give 1 to 80 letters'],
    ['of a handle, a number', calling('task', 17), 'The key or workflow id is 17; give'],
    ['of a handle, missing', calling('task', undefined), 'The key or workflow id is missing; give'],
    ['of a batch, a number', calling('startBatch', { id: 17, rows }), 'id is 17; give 1 to 80'],
    ['of the handle of a batch', calling('batch', undefined), 'The batch id is missing; give'],
    ['of the handle of a hidden batch', calling('batch', '.x'), 'The batch id is ".x"; give 1 to 80'],
    ['of an adoption', calling('adopt', undefined), 'The request id is missing; give'],
    ['of an account', calling('dailyBudget', undefined), 'The account missing does not match'],
    ['of everything', calling('start'), 'There is no input; give { webAppId, inputs }'],
    [
      'of rows that are not prepared',
      calling('startBatch', { id: 'b', rows: [] }),
      'rows is []; give { location, digest, rows, pages }, which prepareRows of @longhaul/client/row-files',
    ],
    ['of a whole batch', calling('startBatch'), 'There is no input; give { id, rows }'],
  ])('is refused with what to give: %s', async (_, call, words) => {
    expect(await problemsOf(call)).toEqual([expect.stringContaining(words)]);
  });

  it.each<[string, unknown]>([
    ['tags', { tags: undefined }],
    ['account', { account: undefined }],
    ['keyPrefix', { keyPrefix: undefined }],
    ['needsPerson', { needsPerson: undefined }],
  ])('of a list’s filter is refused, for it would list what others started: %s', async (name, options) => {
    expect(await problemsOf(calling('list', options))).toEqual([
      `${name} is there and undefined; give a value, or leave ${name} out to list all.`,
    ]);
  });
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
      'inputs["1:A.b"]: Unknown field "name"; known are file, as.',
    ]);
    const content = { '1:A.b': { content: Buffer.from('a'), nane: 'a.png' } };
    expect(await problemsOf(calling('start', { webAppId: 1, inputs: content }))).toEqual([
      'inputs["1:A.b"]: Unknown field "nane"; did you mean name? Known are content, name, as.',
      expect.stringContaining('name is missing'),
    ]);
  });

  it.each<[string, unknown, string]>([
    ['an ArrayBuffer', new ArrayBuffer(2), 'an object of the class ArrayBuffer'],
    ['a Blob', new Blob(['a']), 'an object of the class Blob'],
    ['a web stream', new Blob(['a']).stream(), 'an object of the class ReadableStream'],
    ['a promise', Promise.resolve(), 'an object of the class Promise'],
  ])('whose content is %s is refused by that name', async (_, content, words) => {
    const inputs = { '1:A.b': { content, name: 'a.png' } };
    const [problem, ...others] = await problemsOf(calling('start', { webAppId: 1, inputs }));
    expect(problem).toContain(`inputs["1:A.b"].content is ${words}; give a Buffer`);
    expect(others).toEqual([]);
  });

  it('that is no number is called so', async () => {
    expect(await problemsOf(calling('start', { webAppId: NaN, inputs: { '1:A.b': Infinity } }))).toEqual([
      expect.stringMatching(/^inputs\["1:A.b"\] is Infinity;/),
      expect.stringMatching(/^webAppId is NaN;/),
    ]);
  });
});

describe('the heading of what is refused', () => {
  it.each<[string, Call, RegExp]>([
    ['the input of a task', calling('start', { webAppId: 0, inputs: {} }), /^The task’s input cannot be used:/],
    ['the input of a batch', calling('startBatch', { id: 'b' }), /^The batch’s input cannot be used:/],
    ['the options of an adoption', calling('adopt', 'r-1', { tagz: [] }), /^The arguments cannot be used:/],
    ['a request for outputs', callingHandle('task', 'outputs'), /^The arguments cannot be used:\n.*no archive/],
  ])('names %s', async (_, call, heading) => {
    const error: unknown = await Promise.resolve()
      .then(() => call(longhaul))
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ message: expect.stringMatching(heading) as string });
  });
});
