import { type MetricMeter, noopMetricMeter } from '@temporalio/common';
import { sampleGauges } from '../../../src/telemetry/gauges';

describe('the gauges of a worker', () => {
  it('say that a limiter is closed only while creates are late because of it', () => {
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
          ['late', { isHoldingBack: true, waiting: 0 }],
          ['quiet', { isHoldingBack: false, waiting: 0 }],
        ],
        waitingForPerson: () => Promise.resolve({}),
        batchesAtBudget: () => Promise.resolve(0),
        sweep: () => Promise.resolve(null),
        expiring: () => Promise.resolve({}),
      },
      () => undefined,
    );
    stop();

    expect(values.get('longhaul_create_limiter_closed {"account":"late"}')).toBe(1);
    expect(values.get('longhaul_create_limiter_closed {"account":"quiet"}')).toBe(0);
  });
});
