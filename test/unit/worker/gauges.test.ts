import { type MetricMeter, noopMetricMeter } from '@temporalio/common';
import { CreateLimiter } from '../../../src/service/create-limiter';
import { sampleGauges } from '../../../src/worker/gauges';

describe('the gauges of a worker', () => {
  it('say that a limiter is closed only while creates are late because of it', () => {
    const limiter = new CreateLimiter({ perSecond: 1 }).view();
    const values = new Map<string, number>();
    const meter = Object.assign(Object.create(noopMetricMeter) as MetricMeter, {
      createGauge: (name: string) => ({
        set: (value: number, labels: object) => void values.set(`${name} ${JSON.stringify(labels)}`, value),
      }),
    });
    const stop = sampleGauges(
      meter,
      {
        creates: () => [
          ['poor', { ...limiter, cause: 'account', isHoldingBack: true }],
          ['late', { ...limiter, cause: 'service', isHoldingBack: true }],
          ['quiet', { ...limiter, cause: 'service', isHoldingBack: false }],
        ],
        waitingForPerson: () => Promise.resolve({}),
        batchesAtBudget: () => Promise.resolve(0),
        sweep: () => Promise.resolve(null),
        expiring: () => Promise.resolve({}),
      },
      () => undefined,
    );
    stop();

    const closed = [...values].filter(([name, value]) => name.includes('limiter_closed') && value === 1);
    expect(closed.map(([name]) => name)).toEqual([
      'longhaul_create_limiter_closed {"account":"poor","cause":"account"}',
      'longhaul_create_limiter_closed {"account":"late","cause":"service"}',
    ]);
  });
});
