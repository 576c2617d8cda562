import fc from 'fast-check';
import * as v from 'valibot';
import { parseTaskInput } from '../../../src/contract/parse-task-input';
import { tuningSchema } from '../../../src/contract/task-input';

const defaultTuning = v.parse(tuningSchema, {});

const good = { webAppId: 7, inputs: { '1:LoadImage.image': { file: 'photo.jpg' }, '2:ImageScale.width': 512 } };
const key = '1:LoadImage.image';
const circular: Record<string, unknown> = {};
circular['itself'] = circular;

/** The problems of a good input with these fields changed. */
function problemsOf(changes: Record<string, unknown>): string {
  const { problems } = parseTaskInput({ ...good, ...changes });
  return problems?.join('\n') ?? 'no problem';
}

describe('parseTaskInput', () => {
  it('fills in every default', () => {
    expect(parseTaskInput(good)).toEqual({
      plan: {
        account: 'default',
        archiveFolder: '',
        watch: 'timer',
        webhook: null,
        deadlinesMs: { queue: 86_400_000, run: 43_200_000, total: 172_800_000 },
        tuning: defaultTuning,
        adoptRequestId: null,
        webAppId: 7,
        values: { '2:ImageScale.width': 512 },
        files: [{ key, file: 'photo.jpg', as: 'url' }],
        suppressPreviewOutput: null,
        onUncertain: 'hold',
        uncertainWaitMs: null,
        batch: null,
        createNumber: 1,
      },
    });
  });

  it('takes every field', () => {
    const input = {
      webAppId: 1,
      inputs: { '1:A.text': 'who?', '2:B.n': 0, '3:C.f': { file: 'https://host/a.png', as: 'id' } },
      account: 'team-b',
      archive: 'campaign 7/Entwürfe',
      watch: 'timer',
      webhook: 'orders.eu',
      deadlines: { queue: '90 seconds', run: 5_000, total: '2h' },
      suppressPreviewOutput: false,
      onUncertain: 'recreate',
      createNumber: 3,
      tuning: { poll: { minMs: 5, maxMs: 5 }, retryMaxMs: 9 },
    };
    expect(parseTaskInput(input).plan).toMatchObject({
      account: 'team-b',
      archiveFolder: 'campaign 7/Entwürfe',
      webhook: 'orders.eu',
      deadlinesMs: { queue: 90_000, run: 5_000, total: 7_200_000 },
      values: { '1:A.text': 'who?', '2:B.n': 0 },
      files: [{ key: '3:C.f', file: 'https://host/a.png', as: 'id' }],
      suppressPreviewOutput: false,
      onUncertain: 'recreate',
      createNumber: 3,
      tuning: { ...defaultTuning, poll: { minMs: 5, maxMs: 5 }, retryMaxMs: 9 },
    });
  });

  it('takes a task made elsewhere', () => {
    const { plan } = parseTaskInput({ adopt: { requestId: 'r-1' }, archive: 'a' });
    expect(plan).toMatchObject({ adoptRequestId: 'r-1', webAppId: null, values: {}, files: [], archiveFolder: 'a' });
  });

  it.each([
    'https://h/a.png',
    'http://h/a.png',
    's3://bucket/a.png',
    '/srv/a.png',
    'a.png',
    'ab:1.png',
    './data:a.png',
  ])('takes the file %s', (file) => {
    expect(parseTaskInput({ ...good, inputs: { [key]: { file } } }).plan?.files).toEqual([{ key, file, as: 'url' }]);
  });

  const value = (one: unknown): Record<string, unknown> => ({ inputs: { [key]: one } });
  const anApp = 'positive whole number';
  const inputForm = '<node_id>:<NodeClass>.<parameter>';

  // [the changes, what the message has of field, value and remedy]
  it.each<[Record<string, unknown>, ...string[]]>([
    [{ webAppId: '7' }, 'webAppId', '"7"', anApp],
    [{ webAppId: 0 }, 'webAppId', '0', anApp],
    [{ webAppId: 0.5 }, 'webAppId', '0.5', anApp],
    [{ webAppId: undefined }, 'webAppId', 'missing', anApp],
    [{ inputs: undefined }, 'inputs is missing; give an object', inputForm],
    [{ inputs: [1] }, 'inputs', '[1]', inputForm],
    [{ inputs: new Map([[key, 1]]) }, 'inputs is an object of the class Map'],
    [{ inputs: { image: 1 } }, '"image"', '"1:LoadImage.image"'],
    [value(true), key, 'true', 'text and finite numbers'],
    [value([1]), key, '[1]', 'text and finite numbers'],
    [value(null), key, 'null', 'text and finite numbers'],
    [value(Number.NaN), key, 'text and finite numbers'],
    [value(new Date(0)), key, 'class Date', 'give a text, such as its toISO'],
    [value(new URL('https://a.example/x')), key, 'class URL', 'give its href'],
    [value(Buffer.from('a')), key, 'class Buffer', 'give { file } with the s3: URI'],
    [value({ content: Buffer.from('a'), name: 'a.png' }), key, 'in a row give { file } with the s3: URI'],
    [value({ fiel: '/x' }), key, '{"fiel":"/x"}', 'files are { file: "path" }'],
    [value({ value: 5 }), key, 'the service takes text'],
    [value(circular), key, 'a value that holds itself'],
    [value({ file: ' ' }), key, '.file', '" "', 'give a path'],
    [value({ file: 5 }), key, '.file', '5', 'give a path'],
    [value({ file: 'https:a.png' }), key, '"https:a.png"', 'give a path'],
    [value({ file: 'data:,a' }), key, '.file', '"data:,a"', 'give a path'],
    [value({ file: 'file:///a' }), key, '"file:///a"', 'an s3: URI'],
    [value({ file: 'FTP://h/a.png' }), key, '"FTP://h/a.png"', 'an https: URL'],
    [value({ file: new URL('file:///a') }), key, '.file is an object of the class URL', 'fileURLToPath of node:url'],
    [value({ file: 'a', as: 'URL' }), key, '.as', '"URL"', '"url", "name", "id"'],
    [{ suppressPreviewOutput: 'yes' }, 'suppressPreviewOutput', '"yes"', 'true or false'],
    [{ uncertainWait: '90' }, 'uncertainWait', '"90"', '"90 seconds"'],
    [{ uncertainWait: '9999 days' }, 'uncertainWait', 'at most 3650 days'],
    [{ onUncertain: 'retry' }, 'onUncertain', '"retry"', '"hold", "fail", "recreate"'],
    [{ createNumber: 0 }, 'createNumber', '0', anApp],
    [{ account: 'a b' }, 'account', '"a b"', 'letters, digits'],
    [{ account: 5 }, 'account', '5', 'letters, digits'],
    [{ archive: '../x' }, 'archive', '"../x"', 'relative'],
    [{ archive: '/x' }, 'archive', '"/x"', 'relative'],
    [{ archive: '.creates' }, 'archive', '".creates"', 'no part beginning with a dot'],
    [{ archive: 'a\\..\\b' }, 'archive', 'relative'],
    [{ watch: 'dream' }, 'watch', '"dream"', '"timer"'],
    [{ deadlines: '2h' }, 'deadlines is "2h"', 'queue, run and total, such as { total: "12h" }'],
    [{ deadlines: new Map([['run', '2h']]) }, 'deadlines', 'class Map', '{ total: "12h" }'],
    [{ deadlines: { totl: '2h' } }, 'Unknown field deadlines.totl', 'did you mean total?'],
    [{ deadlines: { run: '90' } }, 'deadlines.run', '"90"', '"12h", or milliseconds as a number'],
    [{ deadlines: { run: null } }, 'deadlines.run is null', '"90 seconds"'],
    [{ deadlines: { run: 0 } }, 'deadlines.run', '0', 'above 0'],
    [{ deadlines: { total: -5 } }, 'deadlines.total', '-5', '"90 seconds"'],
    [{ deadlines: { total: 1e300 } }, 'deadlines.total', '1e+300', 'at most 3650 days'],
    [{ tuning: 5 }, 'tuning', '5', 'retryMaxMs'],
    [{ tuning: new Map([['retryMaxMs', 9]]) }, 'tuning', 'class Map', 'retryMaxMs'],
    [{ tuning: { retryMaxMS: 5 } }, 'Unknown field tuning.retryMaxMS', 'did you mean retryMaxMs?'],
    [{ tuning: { toString: 5 } }, 'Unknown field tuning.toString', 'retryMaxMs'],
    [{ tuning: { retryMaxMs: 0 } }, 'tuning.retryMaxMs', '0', 'whole number from 1'],
    [{ tuning: { continueAsNewAfterEvents: 0.5 } }, '0.5', 'whole number from 1'],
    [{ tuning: { createTimeoutMs: 1e300 } }, 'createTimeoutMs', '1e+300', 'whole number from 1'],
    [{ tuning: { poll: { minMs: 9, maxMs: 1 } } }, 'tuning.poll', 'minMs'],
    [{ tuning: { poll: { minMs: 0, maxMs: 0 } } }, 'tuning.poll', 'minMs'],
    [{ colour: 'red' }, 'colour', 'webAppId, inputs'],
    [{ adopt: { requestId: 'r-1' } }, 'webAppId, inputs', 'adopt', 'leave one of them out'],
    [{ adopt: { requestId: 'r-1' }, webAppId: 0 }, 'webAppId is 0', anApp],
    [{ adopt: {} }, 'adopt', '{}', 'request id as text'],
    [{ adopt: { requestId: 'a b' } }, 'adopt', 'a b', 'request id as text'],
    [{ adopt: null }, 'adopt', 'null', 'request id as text'],
  ])('refuses %p, naming field, value and remedy', (changes, ...named) => {
    const problems = problemsOf(changes);
    for (const words of named) expect(problems).toContain(words);
  });

  it('refuses an input that is not an object', () => {
    expect(parseTaskInput(undefined).problems?.join()).toContain('There is no input; give {');
    for (const input of [null, 5, 'text', [good]]) {
      expect(parseTaskInput(input).problems?.join()).toContain('is not an object');
    }
  });

  it('lists every problem at once', () => {
    const problems = problemsOf({ webAppId: -1, account: '', watch: 5, deadlines: { run: 'x' }, inputs: { a: {} } });
    for (const word of ['webAppId', 'account', 'watch', 'deadlines.run', '"a"']) expect(problems).toContain(word);
  });

  it.each([
    ['a text value', { [key]: 'https://h/p.png?X-Amz-Signature=s3cret' }],
    ['a file', { [key]: { file: 'https://h/p.png?X-Amz-Signature=s3cret' } }],
    ['text around it', { [key]: 'like this? https://h/p.png?sig=s3cret' }],
  ])('refuses a signed link in %s and does not repeat it', (_what, inputs) => {
    const problems = problemsOf({ inputs });
    expect(problems).toContain('signature parameter');
    expect(problems).not.toContain('s3cret');
  });

  it('refuses a link with a password and does not repeat it', () => {
    const problems = problemsOf({ inputs: { [key]: { file: 'https://me:s3cret@h/p.png' } } });
    expect(problems).toContain('a password');
    expect(problems).not.toContain('s3cret');
  });

  it.each([
    ['in a list', { inputs: { [key]: ['https://h/p.png?sig=s3cret'] } }],
    ['in the wrong field', { archive: 'https://h/p.png?sig=s3cret' }],
    ['as a password', { account: 'https://me:s3cret@h/p.png' }],
    ['as a bearer token', { adopt: { requestId: 'Bearer s3cret' } }],
  ])('does not repeat a secret that came %s', (_what, changes) => {
    const problems = problemsOf(changes);
    expect(problems).not.toBe('no problem');
    expect(problems).not.toContain('s3cret');
  });

  it('shows no more than the beginning of a long value', () => {
    expect(problemsOf({ account: 'x'.repeat(100_000) }).length).toBeLessThan(1_000);
  });

  it('never throws, and answers either a plan or at least one problem', () => {
    const names = ['webAppId', 'inputs', 'account', 'archive', 'watch', 'deadlines', 'tuning', 'adopt', 'createNumber'];
    const anything = fc.anything({ withBigInt: true, withNullPrototype: true, withDate: true, withMap: true });
    const inputs = fc.oneof(anything, fc.dictionary(fc.constantFrom(...names, 'onUncertain', '__proto__'), anything));
    fc.assert(
      fc.property(inputs, (input) => {
        const { plan, problems } = parseTaskInput(input);
        expect(plan === undefined).toBe(problems !== undefined && problems.length > 0);
      }),
    );
  });

  it('never throws on values that JSON cannot hold', () => {
    const circular: Record<string, unknown> = {};
    circular['itself'] = circular;
    for (const value of [5n, circular, Symbol('s'), () => 5]) {
      expect(parseTaskInput({ ...good, account: value }).problems?.join()).toContain('account');
    }
  });
});
