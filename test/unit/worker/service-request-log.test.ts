import { createLogger } from '../../../src/worker/logger';
import type { RequestEnd } from '../../../src/service';
import { noopMetricMeter } from '@temporalio/common';
import { keyGauge, requestLog } from '../../../src/worker/service-request-log';

const get = { method: 'GET', path: '/w/v1/webapp/task/openapi/detail', durationMs: 12 };

const endOf = (status: number | null): RequestEnd => {
  return { ...get, status, ...((status === 401 || status === 403) && { keyRefused: true as const }) };
};

describe('the log of requests to the service', () => {
  it('says once a minute that the key of an account is refused, and where it is set, and else nothing at the level info', () => {
    const lines: string[] = [];
    const logger = createLogger({ level: 'info', destination: { write: (line) => lines.push(line) } });
    const settings = { apiKey: 'LONGHAUL_API_KEY_FILE', serviceUrl: 'LONGHAUL_SERVICE_URL' };
    const [studio, other] = ['studio', 'other'].map((name) => requestLog(logger, { name, settings }));
    for (const status of [200, 401, 401, 403, 500, null]) studio?.(endOf(status));
    other?.(endOf(403));

    const msg = 'the service refuses the API key of the account';
    const remedy = 'Check LONGHAUL_SERVICE_URL and LONGHAUL_API_KEY_FILE.';
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      expect.objectContaining({ level: 'warn', account: 'studio', status: 401, path: get.path, msg, remedy }),
      expect.objectContaining({ level: 'warn', account: 'other', status: 403, msg, remedy }),
    ]);
  });
});

it('the gauge of a refused key has what the last answer of the service says, and nothing without an answer', () => {
  const values: number[] = [];
  const gauge = { ...noopMetricMeter.createGauge('none'), set: (value: number) => void values.push(value) };
  jest.spyOn(noopMetricMeter, 'createGauge').mockReturnValue(gauge);
  const observe = keyGauge(noopMetricMeter, 'studio');
  const valuesAfter = [null, 401, null, 403, 429, 200, 401].map((status) => {
    observe(endOf(status));
    return [...values];
  });
  expect(valuesAfter).toEqual([[], [1], [1], [1], [1, 0], [1, 0], [1, 0, 1]]);
});
