import { type MetricMeter, noopMetricMeter } from '@temporalio/common';
import { pino } from 'pino';
import type { TemporalAccess } from '../../../src/client/temporal-access';
import { serviceRemedy } from '../../../src/config/accounts';
import type { RequestEnd } from '../../../src/service';
import type { AccountGate } from '../../../src/service/account-gate';
import { createLogger } from '../../../src/worker/logger';
import { keyGauge, requestLog, startGauges } from '../../../src/worker/telemetry';

const get = { method: 'GET', path: '/w/v1/webapp/task/openapi/detail', durationMs: 12 };

function endOf(status: number | null): RequestEnd {
  return { ...get, status, keyRefused: status === 401 || status === 403 ? true : undefined };
}

/** A meter that keeps the last value of each gauge, and all of them in their order. */
function openMeter(): { readonly meter: MetricMeter; readonly last: Map<string, number>; readonly all: number[] } {
  const [last, all] = [new Map<string, number>(), [] as number[]];
  const meter = Object.assign(Object.create(noopMetricMeter) as MetricMeter, {
    createGauge: (name: string) => ({
      set: (value: number, labels: object) => {
        last.set(`${name} ${JSON.stringify(labels)}`, value);
        all.push(value);
      },
    }),
  });
  return { meter, last, all };
}

it('the gauges of a worker say that a limiter is closed only while creates are late because of it', () => {
  const { meter, last } = openMeter();
  const gate = (cause: string, isHoldingBack: boolean) => ({ view: () => ({ creates: { cause, isHoldingBack } }) });
  const limits = new Map<string, unknown>([
    ['poor', gate('account', true)],
    ['late', gate('service', true)],
    ['quiet', gate('service', false)],
  ]) as ReadonlyMap<string, AccountGate>;
  const access = { taskQueue: 'longhaul' } as TemporalAccess;
  startGauges({ limits, services: new Map(), access, meter, logger: pino({ level: 'silent' }) })();

  const closed = [...last].filter(([name, value]) => name.includes('limiter_closed') && value === 1);
  expect(closed.map(([name]) => name)).toEqual([
    'longhaul_create_limiter_closed {"account":"poor","cause":"account"}',
    'longhaul_create_limiter_closed {"account":"late","cause":"service"}',
  ]);
});

it('the log of requests says once a minute that a key is refused, and where it is set, and else nothing at the level info', () => {
  const lines: string[] = [];
  const logger = createLogger({ level: 'info', destination: { write: (line) => lines.push(line) } });
  const settings = { apiKey: 'LONGHAUL_API_KEY_FILE', serviceUrl: 'LONGHAUL_SERVICE_URL' };
  const [studio, other] = ['studio', 'other'].map((name) => requestLog(logger, { name, settings }));
  for (const status of [200, 401, 401, 403, 500, null]) studio?.(endOf(status));
  other?.(endOf(403));

  const remedy = serviceRemedy({ settings }, 'UNAUTHORIZED');
  expect(remedy).toContain('LONGHAUL_API_KEY_FILE');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    expect.objectContaining({ level: 'warn', account: 'studio', status: 401, path: get.path, remedy }),
    expect.objectContaining({ level: 'warn', account: 'other', status: 403, remedy }),
  ]);
});

it('the gauge of a refused key has what the last answer of the service says, and nothing without an answer', () => {
  const { meter, all } = openMeter();
  const observe = keyGauge(meter, 'studio');
  const valuesAfter = [null, 401, null, 403, 429, 200, 401].map((status) => {
    observe(endOf(status));
    return [...all];
  });
  expect(valuesAfter).toEqual([[], [1], [1], [1], [1, 0], [1, 0], [1, 0, 1]]);
});
