import fc from 'fast-check';
import { isRecord } from '../../../src/core/json';
import { classifyCreate, type CreateReply } from '../../../src/core/create-outcome';

import { defaultEnvelopeCodes as codes, defaultSuccessCodes as successCodes } from '../../../src/core/service-dialect';

const policy = { codes, successCodes };
const refused = { code: 20015, message: 'bad param', status: false };

function reply(httpStatus: number, body: unknown, more: Partial<CreateReply> = {}): CreateReply {
  return { kind: 'reply', httpStatus, body, ...more };
}

describe('classifyCreate', () => {
  it.each([
    [202, { requestId: 'r-1' }],
    [202, { request_id: 'r-1' }],
    [200, { requestId: 'r-1' }],
    [200, { code: 20000, status: true, data: { requestId: 'r-1' } }],
    [202, { requestId: '', request_id: 'r-1' }],
  ])('is accepted with HTTP %i and the id in %j', (httpStatus, body) => {
    expect(classifyCreate(reply(httpStatus, body), policy)).toEqual({ outcome: 'accepted', requestId: 'r-1' });
  });

  it('is accepted when the body was cut after whole JSON, because the id is known', () => {
    const cut = reply(202, { requestId: 'r-1' }, { bodyFault: 'reset' });
    expect(classifyCreate(cut, policy)).toEqual({ outcome: 'accepted', requestId: 'r-1' });
  });

  it('is not sent when the exchange failed before the headers left', () => {
    expect(classifyCreate({ kind: 'failure', requestLeft: false, reason: 'refused' }, policy)).toEqual({
      outcome: 'notSent',
      reason: 'refused',
    });
  });

  it('is uncertain when the exchange failed after the headers left', () => {
    expect(classifyCreate({ kind: 'failure', requestLeft: true, reason: 'reset' }, policy)).toEqual({
      outcome: 'uncertain',
      reason: 'reset',
    });
  });

  it.each([
    ['a 400 with an envelope', reply(400, refused), { retryable: false, code: 20015, message: 'bad param' }],
    ['a 200 with a refusing envelope', reply(200, refused), { retryable: false, code: 20015 }],
    ['a refusing envelope with its code as text', reply(200, { ...refused, code: '20015' }), { code: 20015 }],
    ['a 401 without a body', reply(401, undefined), { retryable: false, httpStatus: 401, scope: 'key' }],
    [
      'a 401 whose code means "later"',
      reply(401, { code: 50600, message: 'no', status: false }),
      { retryable: false, httpStatus: 401, scope: 'key' },
    ],
    [
      'a 403 whose code means "later"',
      reply(403, { code: 30039, message: 'no', status: false }),
      { retryable: false, httpStatus: 403, scope: 'key' },
    ],
    [
      'a 200 whose code refuses the key',
      reply(200, { code: 20052, message: 'no', status: false }),
      { retryable: false, httpStatus: 200, scope: 'key' },
    ],
    ['a 404 whose body was cut', reply(404, undefined, { bodyFault: 'reset' }), { retryable: false }],
    ['a redirect', reply(307, undefined), { retryable: false, httpStatus: 307 }],
    ['a 429', reply(429, undefined, { retryAfterMs: 2000 }), { retryable: true, retryAfterMs: 2000 }],
    ['a 503 with Retry-After', reply(503, undefined, { retryAfterMs: 0 }), { retryable: true, retryAfterMs: 0 }],
    ['a 503 with a refusing envelope', reply(503, { ...refused, code: 1 }), { retryable: true }],
    ['a full queue', reply(200, { ...refused, code: 30039 }), { retryable: true, code: 30039 }],
    ['a full queue as a 400', reply(400, { ...refused, code: 30039 }), { retryable: true }],
  ])('is rejected by %s', (_name, evidence, expected) => {
    expect(classifyCreate(evidence, policy)).toMatchObject({ outcome: 'rejected', ...expected });
  });

  it.each([
    ['a 408', reply(408, undefined)],
    ['a 500', reply(500, { message: 'oops' })],
    ['a 500 with a refusing envelope: the task may be made', reply(500, refused)],
    ['a 408 with a refusing envelope', reply(408, refused)],
    ['a 502 page', reply(502, undefined)],
    ['a bare 503', reply(503, undefined)],
    ['the 503 of a gateway', reply(503, { code: 503, message: 'no upstream' })],
    ['a 504', reply(504, undefined)],
    ['a 500 that carries something like an id', reply(500, { request_id: 'trace-1' })],
    ['a 200 without an id', reply(200, {})],
    ['a 202 whose body was cut', reply(202, undefined, { bodyFault: 'reset' })],
    ['a 202 that is no JSON', reply(202, undefined)],
    ['a 202 whose body is null', reply(202, null)],
    ['a 202 with an empty id', reply(202, { requestId: '' })],
    ['a 202 with an id that is no text', reply(202, { requestId: 7 })],
    ['a 202 with an id that cannot be sent back', reply(202, { requestId: 'a b\n' })],
    ['a 2xx that only says status false', reply(200, { status: false })],
    ['a success envelope without an id', reply(200, { code: 20000, message: 'Ok', status: true, data: {} })],
    ['a failing code without status', reply(200, { code: 30039, message: 'full' })],
    ['a switch of protocols', reply(101, undefined)],
  ])('is uncertain after %s', (_name, evidence) => {
    expect(classifyCreate(evidence, policy)).toEqual({
      outcome: 'uncertain',
      reason: expect.stringContaining(`HTTP ${evidence.httpStatus}`) as string,
    });
  });

  it('tells the id that came with an error, which may be that of the task', () => {
    expect(classifyCreate(reply(500, { requestId: 'r-1' }), policy)).toMatchObject({
      outcome: 'uncertain',
      reason: 'HTTP 500; its body has the id r-1, which may be that of the task',
    });
  });

  const clear = { code: 20050, message: 'no credit', status: false };
  it.each([
    ['a clear refusal with a trace', reply(200, { ...clear, requestId: 'trace-1' }), 'rejected'],
    ['the same as 202', reply(202, { ...clear, request_id: 'trace-1' }), 'rejected'],
    ['a clear refusal whose data has an id', reply(200, { ...clear, data: { requestId: 'r-1' } }), 'uncertain'],
    ['an id and status false', reply(200, { requestId: 'r-1', status: false }), 'uncertain'],
    ['an id and a code of refusal', reply(200, { requestId: 'r-1', code: 20050 }), 'uncertain'],
    ['an id, status true and a code of refusal', reply(200, { ...clear, status: true, requestId: 'r-1' }), 'uncertain'],
    ['an id and success false', reply(200, { requestId: 'r-1', success: false }), 'uncertain'],
    ['an id and a code of text', reply(200, { requestId: 'r-1', code: 'QUOTA' }), 'uncertain'],
    ['an id and a status of text', reply(202, { requestId: 'r-1', status: 'error' }), 'uncertain'],
    ['status true and a code of text', reply(200, { requestId: 'r-1', status: true, code: 'QUOTA' }), 'uncertain'],
    ['an id and the state of the task', reply(202, { requestId: 'r-1', status: 'Queuing' }), 'accepted'],
    ['an id, success true and null signs', reply(200, { requestId: 'r-1', success: true, code: null }), 'accepted'],
    ['status false and the code of success', reply(200, { ...clear, code: 20000 }), 'uncertain'],
    ['a 400 that is an acceptance otherwise', reply(400, { requestId: 'r-1' }), 'uncertain'],
    ['a 400 whose envelope accepts', reply(400, { code: 20000, status: true, message: 'Ok' }), 'uncertain'],
    ['a 429 with a trace', reply(429, { request_id: 'trace-1', message: 'too many' }), 'rejected'],
    ['a 503 with Retry-After and an id', reply(503, { requestId: 'r-1' }, { retryAfterMs: 1 }), 'uncertain'],
    ['a 500 about the balance', reply(500, clear), 'rejected'],
  ])('decides signs that contradict each other: %s', (_name, evidence, outcome) => {
    expect(classifyCreate(evidence, policy).outcome).toBe(outcome);
  });

  it.each([
    [402, undefined, 'INSUFFICIENT_BALANCE', 'account'],
    [200, clear, 'INSUFFICIENT_BALANCE', 'account'],
    [403, undefined, 'UNAUTHORIZED', 'key'],
    [404, { ...clear, code: 20224 }, 'APP_NOT_FOUND', 'app'],
    [404, undefined, 'NOT_FOUND', 'way'],
    [404, { ...refused, code: 1 }, 'NOT_FOUND', 'request'],
    [405, { detail: 'Method Not Allowed' }, 'INVALID_REQUEST', 'way'],
    [407, undefined, 'INVALID_REQUEST', 'way'],
    [413, undefined, 'INVALID_REQUEST', 'request'],
    [307, undefined, 'API_ERROR', 'way'],
    [400, refused, 'INVALID_REQUEST', 'request'],
  ])('says what HTTP %i with %j refused', (status, body, meaning, scope) => {
    expect(classifyCreate(reply(status, body), policy)).toMatchObject({ outcome: 'rejected', meaning, scope });
  });

  it('is never accepted beside a sign of refusal, and never retried beside an id of a task', () => {
    const part = (value: fc.Arbitrary<unknown>) => fc.option(value, { nil: undefined });
    const bodies = fc.record({
      requestId: part(fc.constant('r-1')),
      code: part(fc.constantFrom(20000, 20050, 30039, 1, '20000', '1', 'QUOTA', 0.5, {}, null)),
      status: part(fc.constantFrom(true, false, 'error', 'true', 0, null)),
      success: part(fc.constantFrom(true, false, 'false', null)),
      message: part(fc.constant('words')),
      data: part(fc.constantFrom(null, {}, { requestId: 'r-1' })),
    });
    const statuses = fc.constantFrom(
      101,
      200,
      202,
      303,
      304,
      400,
      403,
      408,
      425,
      429,
      444,
      460,
      499,
      500,
      503,
      520,
      527,
      598,
      599,
    );
    fc.assert(
      fc.property(statuses, bodies, (httpStatus, body) => {
        const { outcome } = classifyCreate(reply(httpStatus, JSON.parse(JSON.stringify(body))), policy);
        const isAccepted = [body.status ?? true, body.success ?? true].every((sign) => sign === true);
        const isSuccessCode = Number(body.code ?? 20_000) === 20_000;
        const mayBeAccepted = httpStatus >= 200 && httpStatus < 300 && isAccepted && isSuccessCode;
        const isIdOfTask = isRecord(body.data) && body.data['requestId'] !== undefined;
        return (mayBeAccepted || outcome !== 'accepted') && !(isIdOfTask && outcome === 'rejected');
      }),
      { numRuns: 2_000 },
    );
  });

  it('never calls an exchange that left anything safe to send again unless the service said no', () => {
    const statuses = Array.from({ length: 500 }, (_, index) => index + 100);
    const refusing = new Set([301, 302, 307, 308, 421, 422, 423, 424, 426, 428, 429, 431, 451]);
    for (let status = 400; status <= 418; status += 1) if (status !== 408) refusing.add(status);
    const outcomes = statuses.map((status) => classifyCreate(reply(status, undefined), policy).outcome);
    const unsafe = statuses.filter((status, index) => {
      const saidNo = refusing.has(status);
      return (outcomes[index] === 'rejected') !== saidNo || outcomes[index] === 'notSent';
    });
    expect(unsafe).toEqual([]);
  });
});
