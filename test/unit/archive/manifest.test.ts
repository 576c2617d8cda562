import fc from 'fast-check';
import { isRequestId } from '../../../src/core/create-outcome';
import { type Manifest, manifestText, parseManifest } from '../../../src/archive/manifest';

const finite = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
const outputs: fc.Arbitrary<Manifest['outputs'][number]> = fc.record(
  {
    file: fc.option(fc.string()),
    bytes: fc.option(fc.nat()),
    sha256: fc.option(fc.stringMatching(/^[0-9a-f]{64}$/)),
    ext: fc.string(),
    contentEncoding: fc.string(),
    costTimeMs: fc.option(finite),
    auditStatus: fc.option(fc.integer()),
    auditSource: fc.constant('outputs'),
    errorType: fc.string(),
    errorMessage: fc.option(fc.string()),
    url: fc.option(fc.webUrl()),
    link: fc.option(fc.string()),
    fetchedTwice: fc.boolean(),
    atLeastBytes: fc.nat(),
    problem: fc.option(fc.string()),
  },
  {
    requiredKeys: [
      ...(['file', 'bytes', 'sha256', 'ext', 'costTimeMs', 'auditStatus'] as const),
      ...(['auditSource', 'errorType', 'errorMessage', 'url', 'link', 'problem'] as const),
    ],
  },
);
const manifests: fc.Arbitrary<Manifest> = fc.record({
  manifestVersion: fc.constant(1),
  complete: fc.boolean(),
  requestId: fc.string({ minLength: 1 }).filter(isRequestId),
  status: fc.constantFrom('Success', 'Failed'),
  workflowId: fc.option(fc.string()),
  createNumber: fc.option(fc.nat()),
  account: fc.string(),
  webAppId: fc.option(fc.nat()),
  archivedAt: fc
    .date({ noInvalidDate: true, min: new Date(0), max: new Date('9999-12-31') })
    .map((date) => date.toISOString()),
  inputs: fc.array(
    fc.record({
      ...{ keys: fc.array(fc.string()), file: fc.string(), name: fc.string(), bytes: fc.nat() },
      ...{ sha256: fc.string(), resourceId: fc.nat() },
    }),
  ),
  // No input has the key `__proto__`; a record is read without it.
  values: fc.dictionary(
    fc.string().filter((key) => key !== '__proto__'),
    fc.oneof(fc.string(), fc.integer()),
  ),
  timestamps: fc.constant({ createdAt: { iso: null, raw: 'then' } }),
  costTimes: fc.constant({ total: 7 }),
  cost: fc.constantFrom(null, { currency: 'EUR', micros: 5 }),
  errorMessage: fc.option(fc.string()),
  outputs: fc.array(outputs),
});

describe('the file of a manifest', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(manifests, (manifest) => {
        const text = manifestText(manifest);
        expect(parseManifest(text)).toEqual(manifest);
        expect(parseManifest(text.slice(0, text.length / 2))).toBeUndefined();
      }),
    );
  });

  it.each([undefined, null, [], {}, { name: 'a web page' }, { requestId: 'r-1', outputs: {} }])('is not %j', (json) => {
    expect(parseManifest(JSON.stringify(json))).toBeUndefined();
  });

  const files = {
    ...{ requestId: 'r-1', account: 'a', status: 'Success', complete: true, archivedAt: '2026-03-01T12:00:00.000Z' },
    outputs: [{ file: '0.png', bytes: 1, sha256: 'ab' }],
  };

  it('names its files although what tells nothing about them is damaged', () => {
    const damaged = { ...files, cost: 'free', inputs: {}, values: 7, timestamps: [], webAppId: 'one', workflowId: 1 };
    expect(parseManifest(JSON.stringify(damaged))).toMatchObject({
      ...files,
      ...{ cost: null, inputs: [], values: {}, timestamps: {}, webAppId: null, workflowId: null },
    });
  });

  it('names no files of a request id that the service cannot have given', () => {
    expect(parseManifest(JSON.stringify({ ...files, requestId: '' }))).toBeUndefined();
  });
});
