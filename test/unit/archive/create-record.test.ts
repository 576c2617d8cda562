import fc from 'fast-check';
import { type CreateRecord, createRecordText, parseCreateRecord } from '../../../src/archive/create-record';

const fields = {
  workflowId: fc.string(),
  createNumber: fc.nat(),
  sentAt: fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  maker: fc.uuid(),
  callbackAsked: fc.boolean(),
  createDigest: fc.stringMatching(/^[0-9a-f]{64}$/),
  account: fc.string(),
  webAppId: fc.nat(),
  requestId: fc.option(fc.string()),
  end: fc.record({
    status: fc.constantFrom('Success', 'Failed', 'Canceled'),
    createdAt: fc.option(fc.date({ noInvalidDate: true, min: new Date(0) }).map((date) => date.toISOString())),
    costTimes: fc.dictionary(fc.stringMatching(/^[a-z_]+$/), fc.nat()),
    cost: fc.option(fc.record({ currency: fc.constantFrom('EUR', 'USD'), micros: fc.maxSafeNat() })),
  }),
};
const records: fc.Arbitrary<CreateRecord> = fc.record(fields, {
  requiredKeys: ['workflowId', 'createNumber', 'sentAt', 'maker', 'callbackAsked', 'requestId'],
});

describe('the file of a create record', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(records, (record) => {
        expect(parseCreateRecord(Buffer.from(createRecordText(record)))).toEqual(record);
      }),
    );
  });

  it('says nothing when it was cut off anywhere', () => {
    fc.assert(
      fc.property(records, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (record, part) => {
        const text = createRecordText(record).trimEnd();
        expect(parseCreateRecord(Buffer.from(text.slice(0, Math.floor(part * text.length))))).toEqual({});
      }),
    );
  });

  it('keeps what it said before when an addition was cut off, and takes the next one', () => {
    fc.assert(
      fc.property(records, fc.nat(), (record, cut) => {
        const [before, line] = [createRecordText(record), createRecordText({ requestId: 'r-1' })];
        const torn = before + line.slice(0, cut % (line.length - 1));
        expect(parseCreateRecord(Buffer.from(torn))).toEqual(record);
        expect(parseCreateRecord(Buffer.from(`${torn}\n${line}`))).toEqual({ ...record, requestId: 'r-1' });
      }),
    );
  });

  it('loses a field that is damaged or gone, and no other', () => {
    const wrong = fc.constantFrom({}, [7], Number.POSITIVE_INFINITY);
    fc.assert(
      fc.property(
        records,
        fc.constantFrom(...Object.keys(fields)),
        fc.option(wrong, { nil: undefined }),
        (record, name, value) => {
          const rest = Object.fromEntries(Object.entries(record).filter(([field]) => field !== name));
          expect(parseCreateRecord(Buffer.from(JSON.stringify({ ...record, [name]: value })))).toEqual(
            // JSON has no infinity: it is written as null, which is what a record without a request id has.
            name === 'requestId' && value === Number.POSITIVE_INFINITY ? { ...rest, requestId: null } : rest,
          );
        },
      ),
    );
  });
});
