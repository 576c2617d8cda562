import { parseBatchInput } from '../../../src/contract/batch/parse-batch-input';

const good = { id: 'photos', rows: { location: '/srv/photos.rows.jsonl', digest: 'd', rows: 3, pages: 1 } };

describe('parseBatchInput', () => {
  it('fills in every default', () => {
    expect(parseBatchInput(good).plan).toMatchObject({
      ...good,
      ...{ source: null, badRows: 0, concurrency: 100 },
      choice: { retryFailed: false, retryUnpaid: false, allowChanged: false, allowNew: false },
      budget: null,
      webhook: null,
      attempts: 1,
      defaults: { archive: 'batches/photos/outputs', watch: 'activity', names: null },
    });
  });

  it('takes a folder of the archive', () => {
    const { plan } = parseBatchInput({ ...good, archive: 'campaign-7/Entwürfe' });
    expect(plan?.defaults.archive).toBe('campaign-7/Entwürfe');
  });

  it.each<[string, Record<string, unknown>, string[]]>([
    ['an id with a space', { id: 'a b' }, ['id is "a b"', '1 to 80 letters']],
    ['an id that would hide its folder', { id: '.photos' }, ['id is ".photos"', 'the first of them no dot']],
    ['an id that leads out', { id: '..' }, ['id is ".."', 'the first of them no dot']],
    ['an archive of the caller’s folder', { archive: './out' }, ['archive is "./out"', 'relative, no part beginning']],
    ['an archive that leads out', { archive: '../out' }, ['archive is "../out"', 'inside the worker’s archive']],
    ['an archive from the root', { archive: '/srv/out' }, ['archive is "/srv/out"', 'such as "campaign-7/drafts"']],
    ['too many rows at a time', { concurrency: 501 }, ['concurrency is 501', '1 to 500']],
    ['names that could be the same', { names: '{index}{ext}' }, ['{index}{ext}']],
    ['the records of another batch', { archive: 'batches/other/results' }, ['archive is "batches/other', 'reserved']],
    ['its own records', { archive: 'Batches/photos' }, ['archive is "Batches/photos"', '"batches/photos/outputs"']],
    ['names without end', { names: `{key}/{index}${'{'.repeat(100_000)}` }, ['names is', 'at most 1000 characters']],
    ['no attempt at all', { attempts: 0 }, ['attempts is 0', '1 to 10']],
    ['attempts without end', { attempts: 11 }, ['attempts is 11', '1 to 10']],
    ['a budget without a currency', { budget: '20' }, ['budget is "20"', 'such as "20EUR"']],
    ['a budget with a decimal comma', { budget: '0,30EUR' }, ['budget is "0,30EUR"', 'such as "0.30EUR"']],
    ['a budget of nothing', { budget: '0EUR' }, ['budget is "0EUR"', 'such as "20EUR"']],
    ['a budget that is not text', { budget: 20 }, ['budget is 20', 'such as "20EUR"']],
    [
      'a URL as its webhook',
      { webhook: 'https://a.example' },
      ['webhook is "https://a.example"', 'the name of a webhook'],
    ],
    ['a source without end', { source: 'x'.repeat(5_000) }, ['source is', 'at most 4096 characters']],
    ['a digest that leads out', { rows: { ...good.rows, digest: '../../x' } }, ['rows is', 'a digest in hex']],
    ['more rows than there can be', { rows: { ...good.rows, rows: Number.MAX_SAFE_INTEGER } }, ['rows is', 'at most']],
    ['calls that Temporal refuses', { tuning: { recordBytes: 9_000_000 } }, ['tuning.recordBytes', '1 to 1000000']],
    [
      'runs without end',
      { tuning: { continueAsNewAfterEvents: 1 } },
      ['tuning.continueAsNewAfterEvents', 'from 30 to'],
    ],
    [
      'misspelt tuning',
      { tuning: { recordByte: 5 } },
      ['Unknown field tuning.recordByte; did you mean recordBytes? Known are refillMs'],
    ],
    ['timers beyond any clock', { tuning: { pollEveryMs: 1e15 } }, ['tuning.pollEveryMs', 'from 1 to']],
    ['no rows', { rows: undefined }, ['rows is missing', '{ location, digest, rows, pages }']],
  ])('refuses %s, naming field, value and remedy', (_what, changes, words) => {
    const problems = parseBatchInput({ ...good, ...changes }).problems?.join('\n') ?? 'no problem';
    for (const word of words) expect(problems).toContain(word);
  });

  it('lists every problem at once', () => {
    expect(parseBatchInput({ id: '', concurrency: 0, archive: '.', rows: good.rows }).problems).toHaveLength(3);
  });
});
