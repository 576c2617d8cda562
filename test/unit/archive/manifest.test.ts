import fc from 'fast-check';
import { parseJson } from '../../../src/core/json';
import { isRequestId } from '../../../src/core/create-outcome';
import {
  type Manifest,
  manifestText,
  parseManifest,
  parseManifestCosts,
  parseManifestFiles,
  parseManifestPage,
} from '../../../src/archive/manifest';

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
  errorMessage: fc.option(fc.string()),
  outputs: fc.array(outputs),
});

describe('the file of a manifest', () => {
  it('is read as it was written: all that the next attempt needs, and all that its files are compared with', () => {
    fc.assert(
      fc.property(manifests, (manifest) => {
        const json = parseJson(manifestText(manifest));
        const { requestId, account, complete, archivedAt } = manifest;
        const { webAppId: app, inputs, values, cost, createNumber, timestamps, workflowId: by } = manifest;
        expect(parseManifest(json)).toEqual({
          ...{ requestId, account, complete, inputs, values, cost, createNumber, timestamps },
          ...{ webAppId: app, workflowId: by },
          outputs: manifest.outputs.map((output) => ({
            ...output,
            auditSource: undefined,
            problem: undefined,
            url: undefined,
          })),
        });
        expect(parseManifestFiles(json)).toEqual({
          ...{ requestId, account, complete, archivedAt, workflowId: by, createNumber },
          outputs: manifest.outputs.map(({ file, bytes, sha256, problem }) => ({ file, bytes, sha256, problem })),
        });
        const { status, webAppId, workflowId } = manifest;
        const files = inputs.map(({ keys, file, bytes }) => ({ keys, file, bytes }));
        expect(parseManifestPage(json)).toMatchObject({ requestId, status, webAppId, values, inputs: files });
        expect(parseManifestCosts(json)).toMatchObject({
          requestId,
          account,
          status,
          webAppId,
          workflowId,
          archivedAt,
        });
      }),
    );
  });

  it.each([undefined, null, [], {}, { name: 'a web page' }, { requestId: 'r-1', outputs: {} }])('is not %j', (json) => {
    expect(parseManifest(json)).toBeUndefined();
    expect(parseManifestFiles(json)).toBeUndefined();
  });

  it('names no files of a request id that the service cannot have given', () => {
    const manifest = { account: 'a', archivedAt: '2026-03-01T12:00:00.000Z', outputs: [] };
    expect(parseManifestFiles({ ...manifest, requestId: 'r-1' })).toBeDefined();
    expect(parseManifestFiles({ ...manifest, requestId: '' })).toBeUndefined();
  });
});
