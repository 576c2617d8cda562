import fc from 'fast-check';
import {
  manifestNameBy,
  outputNameBy,
  type OutputNameTemplate,
  type OutputNameValues,
  parseOutputNameTemplate,
} from '../../../src/core/output-name-template';

const values: OutputNameValues = {
  batch: 'spring',
  key: 'IMG_0001',
  requestId: '3f0c9f6e-1f0b-4e7c-8f3a-0a1b2c3d4e5f',
  columns: { city: 'Zürich', animal: 'cat' },
};

function templateOf(text: string): OutputNameTemplate {
  const { template, problems } = parseOutputNameTemplate(text);
  if (template === undefined) throw new Error(problems.join('\n'));
  return template;
}

const goodTemplates = [
  '{batch}/{key}/{index}{ext}',
  '{batch}/{key}-{index}{ext}',
  '{requestId}/{index}{ext}',
  'all/{requestId}_{index}',
  '{city} {animal}/{batch}/{key}/photo-{index}{ext}',
  '{batch}/{key}/{city}{animal}{index}{ext}',
  'of {batch}/x{key}.y/{index}{ext}',
];

describe('a template for the names of archived files', () => {
  it.each([
    ['{batch}/{key}/{index}{ext}', 'spring/IMG_0001/0.png'],
    ['{batch}/{key}-{index}{ext}', 'spring/IMG_0001-0.png'],
    ['{requestId}/{index}{ext}', `${values.requestId}/0.png`],
    ['{city}/{batch}/{key}/{animal} {index}{ext}', 'Zürich/spring/IMG_0001/cat 0.png'],
  ])('%s makes %s', (text, name) => {
    expect(outputNameBy(templateOf(text), values, 0, '.PNG')).toBe(name);
  });

  it('names the manifest beside the outputs, as no output can be named', () => {
    expect(manifestNameBy(templateOf('{batch}/{key}/{index}{ext}'), values)).toBe('spring/IMG_0001/manifest.json');
    expect(manifestNameBy(templateOf('{batch}/{key}-{index}'), values)).toBe('spring/IMG_0001-manifest.json');
  });

  it('tells which columns it asks for', () => {
    expect(templateOf('{city}/{constructor}/{requestId}/{city}-{index}').columns).toEqual(['city', 'constructor']);
  });

  it.each([
    ['{batch}/{key}{ext}', 'must end in {index}{ext}'],
    ['{batch}/{key}/{index}/{ext}', 'must end in {index}{ext}'],
    ['{batch}/{key}/{index}{ext}{ext}', 'must end in {index}{ext}'],
    ['{batch}/{key}/{index}/{index}', 'must end in {index}{ext}'],
    [
      '{batch}/{index}{ext}',
      'has no {key}, so that two tasks could share a name; put {key}/ in front, or {requestId}/',
    ],
    ['{key}/{index}{ext}', 'has no {batch}'],
    ['{batch}/{city}/{index}{ext}', 'has no {key}'],
    ['{batch}/{key}{index}{ext}', 'mixes {key} with what stands beside it'],
    ['{batch}/{key}.{index}{ext}', 'mixes {key}'],
    ['{batch}/{key}-{city}/{index}{ext}', 'mixes {key}'],
    ['{batch}-{key}/{index}{ext}', 'mixes {batch}'],
    ['/{requestId}/{index}', 'has an empty part'],
    ['{requestId}//{index}', 'has an empty part'],
    ['../{requestId}/{index}', 'begins with a dot'],
    ['{requestId}/a./{index}', 'ends in a dot'],
    ['a:b/{requestId}/{index}', 'not every file system'],
    ['{requestId}/{/{index}', 'not every file system'],
    ['{requestId}/{}{index}', 'not every file system'],
    ['{requestId}/\u0000{index}', 'not every file system'],
    ['a/{a}{b}{c}{d}/{requestId}/{index}', 'more than 255 bytes'],
    [`${'{a}{b}{c}/'.repeat(4)}{requestId}/{index}`, 'more than 900 bytes'],
  ])('%j is refused: it %s', (text, problem) => {
    expect(parseOutputNameTemplate(text).problems?.join('\n')).toContain(problem);
  });

  it('says what is missing of a row, instead of a name', () => {
    const template = templateOf('{city}/{requestId}/{index}');
    expect(() => outputNameBy(template, { ...values, columns: {} }, 0, '')).toThrow('no column "city"');
    expect(() => outputNameBy(template, values, -1, '')).toThrow(RangeError);
  });

  it.each([
    ['con', '%63on'],
    ['NUL.tar', '%4EUL.tar'],
    ['com1', '%63om1'],
    ['conman', 'conman'],
    ['..', '%2E%2E'],
    ['.hidden', '%2Ehidden'],
    ['end.', 'end%2E'],
    ['batches', 'batches'],
  ])('writes the key %s as %s', (key, part) => {
    expect(outputNameBy(templateOf('{batch}/{key}/{index}'), { ...values, key }, 7, '')).toBe(`spring/${part}/7`);
  });

  it('keeps out of the folder where batches have their records', () => {
    const name = outputNameBy(templateOf('{batch}/{key}/{index}'), { ...values, batch: 'Batches' }, 0, '');
    expect(name).toBe('%42atches/IMG_0001/0');
  });

  it.each([
    ['../../etc/passwd', '..%2F..%2Fetc%2Fpasswd'],
    ['a\\b', 'a%5Cb'],
    ['line\nline', 'line%0Aline'],
    ['\u202Egnp.exe', '%E2%80%AEgnp.exe'],
    ['\uD800', '_'],
    ['', '_'],
    ['  ', '_'],
    ['Zu\u0308rich', 'Z\u00fcrich'],
  ])('writes the column %j as %s', (city, part) => {
    const name = outputNameBy(templateOf('x{city}x/{requestId}/{index}'), { ...values, columns: { city } }, 0, '');
    expect(name.split('/')[0]).toBe(`x${part}x`);
  });
});

const keys = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9._-]{1,80}$/),
  fc.stringMatching(/^[ab.-]{1,5}$/),
  fc.constantFrom('con', 'CON', 'nul.', '.', '..', '...', 'a-1', 'a', 'a-1-1', '0', '10', '%63on'.slice(1)),
);
const rubbish = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string(),
  fc.constantFrom('\uD800', 'x'.repeat(500), '…'.repeat(90)),
);
const requestIds = fc.oneof(fc.uuid(), fc.stringMatching(/^[\x21-\x7e]{1,200}$/));
const anyValues = fc.record({
  batch: keys,
  key: keys,
  requestId: requestIds,
  columns: fc.record({ city: rubbish, animal: rubbish }),
});
const templates = fc.constantFrom(...goodTemplates).map(templateOf);
const extensions = fc.oneof(fc.constantFrom('', '.png', '.1', '.5'), rubbish);

describe('the names that a template makes', () => {
  it('are safe on every file system, whatever the rows hold', () => {
    fc.assert(
      fc.property(templates, anyValues, fc.maxSafeNat(), extensions, (template, one, index, ext) => {
        for (const name of [outputNameBy(template, one, index, ext), manifestNameBy(template, one)]) {
          expect(name).toBe(name.normalize('NFC'));
          expect(Buffer.byteLength(name)).toBeLessThanOrEqual(900);
          expect(name.split('/')).toHaveLength(template.parts.length);
          for (const part of name.split('/')) expectSafe(part);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('are never shared by two outputs, not even where neither case nor composition make a difference', () => {
    const small = fc.nat({ max: 20 });
    const pair = fc.tuple(anyValues, small, extensions);
    fc.assert(
      fc.property(templates, pair, pair, fc.boolean(), (template, [one, i, extI], [two, j, extJ], isSameRow) => {
        const other = isSameRow ? one : two;
        // What the service and the check of the rows promise.
        fc.pre(isSameRow || one.requestId.toLowerCase() !== two.requestId.toLowerCase());
        fc.pre(isSameRow || `${one.batch}:${one.key}`.toLowerCase() !== `${two.batch}:${two.key}`.toLowerCase());
        fc.pre(!isSameRow || i !== j);
        const folded = (name: string): string => name.normalize('NFKC').toLowerCase();
        const taken = folded(outputNameBy(template, one, i, extI));
        expect(folded(outputNameBy(template, other, j, extJ))).not.toBe(taken);
        expect(folded(manifestNameBy(template, other))).not.toBe(taken);
      }),
      { numRuns: 2_000 },
    );
  });

  it('need no template that throws', () => {
    const pieces = fc.constantFrom('{key}', '{batch}', '{index}', '{ext}', '{requestId}', '{', '}', '/', '-', 'a', '.');
    fc.assert(
      fc.property(
        fc.oneof(
          rubbish,
          fc.array(pieces).map((list) => list.join('')),
        ),
        anyValues,
        (text, one) => {
          const { template, problems = [] } = parseOutputNameTemplate(text);
          const columns = Object.fromEntries((template?.columns ?? []).map((name) => [name, 'x']));
          const name = template === undefined ? 'refused' : outputNameBy(template, { ...one, columns }, 3, '.png');
          expect(problems.length === 0).toBe(template !== undefined);
          for (const part of name.split('/')) expectSafe(part);
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

function expectSafe(part: string): void {
  expect(part).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}"<>:|?*\\]/u);
  expect(part).not.toMatch(/^[. ]|[. ]$|^$/);
  expect(part).not.toMatch(/^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i);
  expect(Buffer.byteLength(part)).toBeLessThanOrEqual(255);
}
