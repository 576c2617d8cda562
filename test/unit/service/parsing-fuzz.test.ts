import fc from 'fast-check';
import { classifyCreate } from '../../../src/core/create-outcome';
import { ServiceError } from '../../../src/service';
import { type Answer, endpoints } from '../../../src/service/endpoints';
import { acceptedJson, openEnvelope, parseData } from '../../../src/service/envelope';
import { defaultEnvelopeCodes, defaultSuccessCodes } from '../../../src/core/service-dialect';
import { readInputResource, readInputResourcePage, readUploadToken } from '../../../src/service/inputs';
import { readTaskDetail, readTaskOutputs } from '../../../src/service/tasks';

const rules = { codes: defaultEnvelopeCodes, successCodes: defaultSuccessCodes };
const readers = {
  detail: readTaskDetail,
  outputs: readTaskOutputs,
  uploadToken: readUploadToken,
  commitInput: readInputResource,
  listInputs: readInputResourcePage,
};
const wireNames = [
  ...['requestId', 'request_id', 'status', 'created_at', 'ended_at', 'queue_info', 'queueInfo', 'queue_count'],
  ...['cost_times', 'error_message', 'error_msg', 'outputs', 'object_url', 'output_ext', 'audit_status', 'list'],
  ...['total', 'id', 'url', 'file', 'storage', 'object_key', 'security_token', '__proto__', 'constructor', 'toString'],
];

/** JSON in the vocabulary of the service, so that the generated values get past the first check. */
const { value: wireValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, -1, 0, 2 ** 53, '', '5', '-1', 'Queuing', 'Cancelled', 'NOT_ERROR'),
    fc.string(),
    fc.double(),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...wireNames), tie('value'), { maxKeys: 8 }),
  ),
}));
const envelope = fc.record(
  {
    code: fc.oneof(fc.constant(20000), fc.constant('20000'), wireValue),
    message: wireValue,
    status: fc.oneof(fc.boolean(), wireValue),
    data: wireValue,
  },
  { requiredKeys: [] },
);
const body = fc.oneof(
  fc.string(),
  wireValue.map((value) => JSON.stringify(value)),
  envelope.map((value) => JSON.stringify(value)),
  envelope.map((value) => JSON.stringify(value).slice(0, -2)),
);
const httpStatus = fc.oneof(fc.constant(200), fc.integer({ min: 100, max: 599 }));

function answered(name: keyof typeof endpoints, text: string, status: number): Answer {
  return { endpoint: endpoints[name], reply: { httpStatus: status, text }, refusesKey: false };
}

function throwsOnlyServiceErrors(read: () => unknown): void {
  try {
    read();
  } catch (error) {
    expect(error).toBeInstanceOf(ServiceError);
  }
}

describe('whatever the service answers', () => {
  it.each(Object.keys(readers) as (keyof typeof readers)[])('%s gives a result or a ServiceError', (name) => {
    fc.assert(
      fc.property(body, httpStatus, (text, status) => {
        const answer = answered(name, text, status);
        throwsOnlyServiceErrors(() => parseData<unknown>(readers[name], openEnvelope(answer, rules), answer));
      }),
      { numRuns: 500 },
    );
  });

  it('a reply whose body is not specified gives JSON or a ServiceError', () => {
    fc.assert(
      fc.property(body, httpStatus, (text, status) => {
        throwsOnlyServiceErrors(() => acceptedJson(answered('cancel', text, status), rules));
      }),
      { numRuns: 500 },
    );
  });

  it('a create has one of its outcomes, and none of them is "not sent"', () => {
    fc.assert(
      fc.property(wireValue, httpStatus, (json, status) => {
        const { outcome } = classifyCreate({ kind: 'reply', httpStatus: status, body: json }, rules);
        expect(['accepted', 'rejected', 'uncertain']).toContain(outcome);
      }),
      { numRuns: 1_000 },
    );
  });

  it('a detail that was read has a state, and whole numbers only where they are promised', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom(...wireNames), wireValue),
        fc.string().map((word) => `S${word}`),
        (data, status) => {
          const detail = readTaskDetail({ ...data, status });
          expect(detail.status).not.toBe('');
          expect(detail.queuePosition ?? 0).toBeGreaterThanOrEqual(0);
          expect(Object.values(detail.costTimes).every((value) => typeof value === 'number')).toBe(true);
        },
      ),
      { numRuns: 500 },
    );
  });
});
