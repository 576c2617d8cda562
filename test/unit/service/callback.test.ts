import { inspect } from 'node:util';
import { parseCallback, ServiceResponseInvalidError } from '../../../src/service';

const body = {
  type: 'API',
  status: 'Success',
  created_at: '2026-01-02 03:04:05',
  running_at: '2026-01-02 03:04:06',
  ended_at: '2026-01-02 03:04:09',
  expired_at: '2026-01-17 03:04:05',
  request_id: '8f14e45f-ceea-467f-a9c4-1f1d1f2b7c11',
  outputs: [
    { object_url: 'https://s.example/a.png?sig=1', output_ext: '.png', cost_time: 12, audit_status: 2 },
    { error_type: 'EXECUTION_ERROR', error_msg: 'no ink' },
  ],
  cost_times: { total_cost_time: 4200, real_svc_cost_time: 17 },
};

const read = {
  requestId: '8f14e45f-ceea-467f-a9c4-1f1d1f2b7c11',
  type: 'API',
  status: 'Success',
  createdAt: { iso: '2026-01-01T19:04:05.000Z', raw: '2026-01-02 03:04:05' },
  runningAt: { iso: '2026-01-01T19:04:06.000Z', raw: '2026-01-02 03:04:06' },
  endedAt: { iso: '2026-01-01T19:04:09.000Z', raw: '2026-01-02 03:04:09' },
  expiredAt: { iso: '2026-01-16T19:04:05.000Z', raw: '2026-01-17 03:04:05' },
  outputs: [
    {
      objectUrl: 'https://s.example/a.png?sig=1',
      ext: '.png',
      costTimeMs: 12,
      auditStatus: 2,
      errorType: 'NOT_ERROR',
    },
    { ext: '', auditStatus: null, errorType: 'EXECUTION_ERROR', errorMessage: 'no ink' },
  ],
  costTimes: { total_cost_time: 4200, real_svc_cost_time: 17 },
};

describe('parseCallback', () => {
  it.each([
    ['a buffer', Buffer.from(JSON.stringify(body))],
    ['bytes', new Uint8Array(Buffer.from(JSON.stringify(body)))],
    ['text', JSON.stringify(body)],
    ['parsed JSON', body],
  ])('reads every field of section 6 of %s', (_name, given) => {
    expect(parseCallback(given)).toEqual(read);
  });

  it.each(['Cancelled', 'CANCELED'])('takes %s for Canceled, and a task without outputs', (status) => {
    expect(parseCallback({ request_id: 'r', status, outputs: null })).toEqual({
      ...{ requestId: 'r', status: 'Canceled', outputs: [], costTimes: {} },
    });
  });

  it.each([
    ['no JSON', '<html>'],
    ['a list', [body]],
    ['no request id', { ...body, request_id: undefined }],
    ['a request id with a line break', { ...body, request_id: 'a\nb' }],
    ['no status', { ...body, status: '' }],
    ['outputs that are no list', { ...body, outputs: 'https://s.example/a.png?sig=hidden' }],
  ])('refuses %s, naming no value', (_name, given) => {
    let refusal: unknown;
    try {
      parseCallback(given);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(ServiceResponseInvalidError);
    expect(String(refusal)).toContain('callback: its body is not as specified: ');
    expect(inspect(refusal)).not.toContain('hidden');
  });
});
