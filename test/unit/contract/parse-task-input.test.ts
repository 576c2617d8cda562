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

  // [what is wrong, the changes, the field and the value as the message names them, the remedy]
  it.each<[string, Record<string, unknown>, string[], string]>([
    ['an app that is text', { webAppId: '7' }, ['webAppId', '"7"'], 'positive whole number'],
    ['an app of zero', { webAppId: 0 }, ['webAppId', '0'], 'positive whole number'],
    ['an app of one half', { webAppId: 0.5 }, ['webAppId', '0.5'], 'positive whole number'],
    ['no app', { webAppId: undefined }, ['webAppId', 'missing'], 'positive whole number'],
    ['no inputs', { inputs: undefined }, ['inputs is missing; give an object'], '<node_id>:<NodeClass>.<parameter>'],
    ['inputs as a list', { inputs: [1] }, ['inputs', '[1]'], '<node_id>:<NodeClass>.<parameter>'],
    ['a malformed input key', { inputs: { image: 1 } }, ['"image"'], '"1:LoadImage.image"'],
    ['a value that is a flag', { inputs: { [key]: true } }, [key, 'true'], 'text and finite numbers'],
    ['a value that is a list', { inputs: { [key]: [1] } }, [key, '[1]'], 'text and finite numbers'],
    ['a value that is null', { inputs: { [key]: null } }, [key, 'null'], 'text and finite numbers'],
    ['a value that is no number', { inputs: { [key]: Number.NaN } }, [key], 'text and finite numbers'],
    ['an empty path', { inputs: { [key]: { file: ' ' } } }, [key, '.file', '" "'], 'give a path'],
    ['a URL without slashes', { inputs: { [key]: { file: 'https:a.png' } } }, [key, '"https:a.png"'], 'give a path'],
    ['a file in the input', { inputs: { [key]: { file: 'data:,a' } } }, [key, '.file', '"data:,a"'], 'give a path'],
    ['a path that is a number', { inputs: { [key]: { file: 5 } } }, [key, '.file', '5'], 'give a path'],
    [
      'a file of this machine as a URI',
      { inputs: { [key]: { file: 'file:///a' } } },
      [key, '"file:///a"'],
      'an s3: URI',
    ],
    ['a file by FTP', { inputs: { [key]: { file: 'FTP://h/a.png' } } }, [key, '"FTP://h/a.png"'], 'an https: URL'],
    ['an unknown form', { inputs: { [key]: { file: 'a', as: 'URL' } } }, [key, '.as', '"URL"'], '"url", "name", "id"'],
    ['a flag that is text', { suppressPreviewOutput: 'yes' }, ['suppressPreviewOutput', '"yes"'], 'true or false'],
    ['a wait for callbacks without a unit', { uncertainWait: '90' }, ['uncertainWait', '"90"'], '"90 seconds"'],
    ['an unknown policy', { onUncertain: 'retry' }, ['onUncertain', '"retry"'], '"hold", "fail", "recreate"'],
    ['a create number of zero', { createNumber: 0 }, ['createNumber', '0'], 'positive whole number'],
    ['an account with a space', { account: 'a b' }, ['account', '"a b"'], 'letters, digits'],
    ['an account that is a number', { account: 5 }, ['account', '5'], 'letters, digits'],
    ['a folder that leads out', { archive: '../x' }, ['archive', '"../x"'], 'relative'],
    ['a folder from the root', { archive: '/x' }, ['archive', '"/x"'], 'relative'],
    ['a hidden folder', { archive: '.creates' }, ['archive', '".creates"'], 'no part beginning with a dot'],
    ['a folder with a backslash', { archive: 'a\\..\\b' }, ['archive'], 'relative'],
    ['a watch of the future', { watch: 'dream' }, ['watch', '"dream"'], '"timer"'],
    ['a Map of inputs', { inputs: new Map([[key, 1]]) }, ['inputs is an object of the class Map'], 'give an object of'],
    ['a Date as inputs', { inputs: new Date(0) }, ['inputs is an object of the class Date'], 'give an object of'],
    ['a Date as an input', { inputs: { [key]: new Date(0) } }, [key, 'class Date'], 'give a text, such as its toISO'],
    ['a URL as an input', { inputs: { [key]: new URL('https://a.example/x') } }, [key, 'class URL'], 'give its href'],
    [
      'a file that is a URL',
      { inputs: { [key]: { file: new URL('https://a.example/x.jpg') } } },
      [`inputs["${key}"].file is an object of the class URL`],
      'give its href',
    ],
    [
      'a file that is a URL of this machine',
      { inputs: { [key]: { file: new URL('file:///a') } } },
      [key, '.file is an object of the class URL'],
      'give its path, which fileURLToPath of node:url makes',
    ],
    [
      'bytes as an input',
      { inputs: { [key]: Buffer.from('a') } },
      [key, 'class Buffer'],
      'give { file } with the s3: URI',
    ],
    [
      'a content, as of a row',
      { inputs: { [key]: { content: Buffer.from('a'), name: 'a.png' } } },
      [key, '{"content":'],
      'in a row give { file } with the s3: URI that staging.keep(stream, "photo.jpg") returns',
    ],
    ['a misspelt file', { inputs: { [key]: { fiel: '/x' } } }, [key, '{"fiel":"/x"}'], 'did you mean file by "fiel"?'],
    ['an object of something else', { inputs: { [key]: { value: 5 } } }, [key], 'the service takes text'],
    [
      'an input that holds itself',
      { inputs: { [key]: circular } },
      [key, 'a value that holds itself'],
      'in start of a',
    ],
    ['a Map of deadlines', { deadlines: new Map([['run', '2h']]) }, ['deadlines', 'class Map'], '{ total: "12h" }'],
    ['a Map of tuning', { tuning: new Map([['retryMaxMs', 9]]) }, ['tuning', 'class Map'], 'retryMaxMs'],
    [
      'deadlines that are one',
      { deadlines: '2h' },
      ['deadlines is "2h"'],
      'queue, run and total, such as { total: "12h" }',
    ],
    ['deadlines as a list', { deadlines: ['2h'] }, ['deadlines is ["2h"]'], 'queue, run and total'],
    ['an unknown deadline', { deadlines: { wait: 1 } }, ['deadlines.wait'], 'queue, run, total'],
    [
      'a deadline without a unit',
      { deadlines: { run: '90' } },
      ['deadlines.run', '"90"'],
      '"12h", or milliseconds as a number',
    ],
    ['a deadline of null', { deadlines: { run: null } }, ['deadlines.run is null'], '"90 seconds"'],
    ['a deadline of nothing', { deadlines: { run: 0 } }, ['deadlines.run', '0'], 'above 0'],
    ['a deadline in the past', { deadlines: { total: -5 } }, ['deadlines.total', '-5'], '"90 seconds"'],
    ['a deadline beyond timers', { deadlines: { total: 1e300 } }, ['deadlines.total', '1e+300'], '"90 seconds"'],
    ['a deadline of millennia', { deadlines: { total: 1e15 } }, ['deadlines.total', '1000000'], 'at most 3650 days'],
    ['a wait of millennia', { uncertainWait: '9999 days' }, ['uncertainWait', '"9999 days"'], 'at most 3650 days'],
    ['tuning that is a number', { tuning: 5 }, ['tuning', '5'], 'retryMaxMs'],
    ['a misspelt deadline', { deadlines: { totl: '2h' } }, ['Unknown field deadlines.totl'], 'did you mean total?'],
    ['unknown tuning', { tuning: { speed: 5 } }, ['Unknown field tuning.speed'], 'retryMaxMs'],
    ['misspelt tuning', { tuning: { retryMaxMS: 5 } }, ['Unknown field tuning.retryMaxMS'], 'did you mean retryMaxMs?'],
    ['tuning by an inherited name', { tuning: { toString: 5 } }, ['Unknown field tuning.toString'], 'retryMaxMs'],
    ['a pause of nothing', { tuning: { retryMaxMs: 0 } }, ['tuning.retryMaxMs', '0'], 'whole number from 1'],
    ['half an event', { tuning: { continueAsNewAfterEvents: 0.5 } }, ['0.5'], 'whole number from 1'],
    [
      'an endless timeout',
      { tuning: { createTimeoutMs: 1e300 } },
      ['createTimeoutMs', '1e+300'],
      'whole number from 1',
    ],
    ['poll bounds the wrong way', { tuning: { poll: { minMs: 9, maxMs: 1 } } }, ['tuning.poll'], 'minMs'],
    ['poll bounds of nothing', { tuning: { poll: { minMs: 0, maxMs: 0 } } }, ['tuning.poll'], 'minMs'],
    ['an unknown field', { colour: 'red' }, ['colour'], 'webAppId, inputs'],
    ['both ways at once', { adopt: { requestId: 'r-1' } }, ['webAppId, inputs', 'adopt'], 'leave one of them out'],
    ['an adoption of no app', { adopt: { requestId: 'r-1' }, webAppId: 0 }, ['webAppId is 0'], 'positive whole number'],
    ['an adoption of nothing', { adopt: {} }, ['adopt', '{}'], 'request id as text'],
    ['an adoption by a sentence', { adopt: { requestId: 'a b' } }, ['adopt', 'a b'], 'request id as text'],
    ['an adoption of null', { adopt: null }, ['adopt', 'null'], 'request id as text'],
  ])('refuses %s, naming field, value and remedy', (_what, changes, named, remedy) => {
    const problems = problemsOf(changes);
    for (const words of [...named, remedy]) expect(problems).toContain(words);
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
