import fc from 'fast-check';
import { formatMoney, MoneySums, parseDecimal, parseMoney, type Price, taskCost } from '../../../src/money/money';
import { useFuzzSeed } from '../../support/fuzz-seed';

useFuzzSeed();

const digits = (max: number): fc.Arbitrary<string> => fc.stringMatching(new RegExp(`^[0-9]{0,${max}}$`));

describe('a decimal number', () => {
  it('is read exactly, or not at all', () => {
    fc.assert(
      fc.property(fc.nat(8_000), digits(12), (whole, fraction) => {
        const text = fraction === '' ? String(whole) : `${whole}.${fraction}`;
        expect(parseDecimal(text, 12)).toBe(Number(`${whole}${fraction.padEnd(12, '0')}`));
      }),
    );
    for (const text of [
      '',
      '.5',
      '5.',
      '-1',
      '+1',
      '1e3',
      '1,5',
      '0x1',
      ' 1',
      '0.0000001',
      '99999999999999',
      '1.2.3',
    ]) {
      expect([text, parseDecimal(text, 6)]).toEqual([text, undefined]);
    }
  });
});

describe('an amount', () => {
  it.each([
    ['20EUR', { currency: 'EUR', micros: 20_000_000 }],
    ['20.5 USD', { currency: 'USD', micros: 20_500_000 }],
    ['0.000001 EUR', { currency: 'EUR', micros: 1 }],
  ])('is read from %p', (text, money) => {
    expect(parseMoney(text)).toEqual(money);
  });

  it.each(['20', 'EUR', '20 eur', '€20', '20 EURO', '-1 EUR', '0.0000001 EUR', '1e9EUR', '20\nEUR'])(
    'is not read from %p',
    (text) => {
      expect(parseMoney(text)).toBeUndefined();
    },
  );

  it('is written with at least two decimal digits, and read again as the same', () => {
    expect(formatMoney({ currency: 'EUR', micros: 20_000_000 })).toBe('20.00 EUR');
    expect(formatMoney({ currency: 'EUR', micros: 28_042 })).toBe('0.028042 EUR');
    fc.assert(
      fc.property(fc.nat(Number.MAX_SAFE_INTEGER), (micros) => {
        expect(parseMoney(formatMoney({ currency: 'EUR', micros }))).toEqual({ currency: 'EUR', micros });
      }),
    );
  });

  it('is summed apart from other currencies', () => {
    const sums = new MoneySums();
    sums.add({ currency: 'USD', micros: 1 });
    sums.add({ currency: 'EUR', micros: 2 });
    sums.add({ currency: 'USD', micros: 4 });

    expect(sums.list()).toEqual([
      { currency: 'EUR', micros: 2 },
      { currency: 'USD', micros: 5 },
    ]);
  });
});

describe('the cost of a task', () => {
  const priceOf = (task: string, ms: string): Price => ({
    currency: 'EUR',
    taskMicros: parseDecimal(task, 6) ?? NaN,
    time: { costTime: 'total_cost_time', msFemtos: parseDecimal(ms, 15) ?? NaN },
  });

  it('is its price and that of its time, to the nearest millionth', () => {
    expect(taskCost(priceOf('0.02', '0.000003'), { total_cost_time: 8_123 })).toEqual({
      currency: 'EUR',
      micros: 44_369,
    });
    // 0.1 + 0.2 of a millionth, and halves.
    expect(taskCost(priceOf('0', '0.0000001'), { total_cost_time: 3 })?.micros).toBe(0);
    expect(taskCost(priceOf('0', '0.0000001'), { total_cost_time: 5 })?.micros).toBe(1);
  });

  it('is what an independent calculation says, whatever the price and the time', () => {
    fc.assert(
      fc.property(fc.nat(1e9), fc.nat(1e12), fc.nat(1e9), (taskMicros, msFemtos, ms) => {
        const price = { currency: 'EUR', taskMicros, time: { costTime: 't', msFemtos } };
        const femtos = BigInt(taskMicros) * 10n ** 9n + BigInt(msFemtos) * BigInt(ms);
        const micros = femtos / 10n ** 9n + (femtos % 10n ** 9n >= 5n * 10n ** 8n ? 1n : 0n);
        const isExact = micros <= BigInt(Number.MAX_SAFE_INTEGER);
        expect(taskCost(price, { t: ms })?.micros).toBe(isExact ? Number(micros) : undefined);
      }),
    );
  });

  it('is not known without the cost time that it is for, or with one that is no duration', () => {
    const price = priceOf('0.02', '0.000003');
    const unusable: Record<string, number>[] = [
      {},
      { inference_cost_time: 5 },
      { total_cost_time: -1 },
      { total_cost_time: 0.5 },
    ];
    for (const costTimes of unusable) {
      expect(taskCost(price, costTimes)).toBeUndefined();
    }
    expect(taskCost({ ...price, time: null }, {})).toEqual({ currency: 'EUR', micros: 20_000 });
  });
});
