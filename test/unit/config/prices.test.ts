import { Environment } from '../../../src/config/environment';
import { type PriceList, readPrices } from '../../../src/config/prices';

const file = 'prices.json';

function read(content: unknown): { readonly prices: PriceList; readonly problems: readonly string[] } {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  const environment = new Environment({ LONGHAUL_PRICES_FILE: file }, ['LONGHAUL_PRICES_FILE'], () => text);
  return { prices: readPrices(environment), problems: environment.problems };
}

const swatch = { webAppId: 5, currency: 'EUR', perTask: '0.02' };
const day = (date: string): number => Date.parse(date);

describe('a file of prices', () => {
  it('gives the price of an app at the time of its create, and nothing for an app that it does not name', () => {
    const { prices, problems } = read({
      prices: [
        swatch,
        { ...swatch, perTask: '0.03', validFrom: '2026-03-01' },
        { ...swatch, account: 'cheap', perTask: '0.01' },
      ],
    });

    expect(problems).toEqual([]);
    expect(prices.find('default', 5, day('2026-02-28T23:59:59Z'))?.taskMicros).toBe(20_000);
    expect(prices.find('default', 5, day('2026-03-01T00:00:00Z'))?.taskMicros).toBe(30_000);
    expect(prices.find('default', 6, day('2026-03-01'))).toBeNull();
  });

  it('may begin with the mark that editors put before UTF-8', () => {
    const { prices, problems } = read(`\uFEFF${JSON.stringify({ prices: [swatch] })}`);
    expect(problems).toEqual([]);
    expect(prices.find('default', 5, 0)?.taskMicros).toBe(20_000);
  });

  it('prefers the price of the account, even when that of all accounts is newer', () => {
    const { prices } = read({
      prices: [
        { ...swatch, validFrom: '2026-03-01' },
        { ...swatch, account: 'cheap', perTask: '0.01' },
      ],
    });

    expect(prices.find('cheap', 5, day('2026-04-01'))?.taskMicros).toBe(10_000);
    expect(prices.find('default', 5, day('2026-04-01'))?.taskMicros).toBe(20_000);
    expect(prices.find('default', 5, day('2026-02-01'))).toBeNull();
  });

  it('prices the milliseconds of a cost time, exactly', () => {
    const { prices, problems } = read({
      prices: [{ webAppId: 1, currency: 'USD', perMillisecond: '0.000000125', costTime: 'real_gpu_cost_time' }],
    });

    expect(problems).toEqual([]);
    expect(prices.find('default', 1, 0)).toEqual({
      currency: 'USD',
      taskMicros: 0,
      time: { costTime: 'real_gpu_cost_time', msFemtos: 125_000_000 },
    });
  });

  it.each([
    ['no JSON', 'prices: 1', ['no JSON: see line 1']],
    ['a trailing comma', '{\n  "prices": [\n    {},\n  ]\n}', ['no JSON: see line 4']],
    ['no prices', {}, ['prices should be a list of prices']],
    [
      'fields of its own',
      { prices: [{ ...swatch, app: 5, perTsk: '1' }] },
      ['prices.0 has a field that Longhaul does not know: "app"; it takes account'],
    ],
    ['an amount that is a number', { prices: [{ ...swatch, perTask: 0.02 }] }, ['prices.0.perTask']],
    ['too many digits', { prices: [{ ...swatch, perTask: '0.0000001' }] }, ['prices.0.perTask', '6 decimal digits']],
    ['a decimal comma', { prices: [{ ...swatch, perTask: '0,02' }] }, ['prices.0.perTask', '"0.02"']],
    ['no amount', { prices: [{ webAppId: 5, currency: 'EUR' }] }, ['prices.0.perTask']],
    ['a price for time without its name', { prices: [{ ...swatch, perMillisecond: '1' }] }, ['prices.0.costTime']],
    ['a currency that is a sign', { prices: [{ ...swatch, currency: '€' }] }, ['prices.0.currency', '"EUR"']],
    ['a date that is none', { prices: [{ ...swatch, validFrom: '2026-02-30' }] }, ['prices.0.validFrom']],
    [
      'a sum for a day that is none',
      { prices: [], dailyBudgets: [{ account: 'a', amount: 'lots' }] },
      [...['dailyBudgets.0.amount', 'is "lots"', '"50EUR"']],
    ],
    ['nothing for a day', { prices: [], dailyBudgets: [{ account: 'a', amount: '0EUR' }] }, ['is "0EUR"']],
    ['a budget of no account', { prices: [], dailyBudgets: [{ amount: '5EUR' }] }, ['dailyBudgets.0.account']],
    [
      'two budgets of one account',
      {
        prices: [],
        dailyBudgets: [
          { account: 'a', amount: '5EUR' },
          { account: 'a', amount: '6EUR' },
        ],
      },
      ['dailyBudgets.1 should be the only budget of its account.'],
    ],
    [
      'two prices for the same time',
      { prices: [swatch, { ...swatch, account: 'a' }, { ...swatch, perTask: '0.03' }] },
      ['prices.2 should be the only price of its app and account from that time on (validFrom).'],
    ],
  ])('is refused with the field and what it should be: %s', (_, content, facts) => {
    const { problems } = read(content);

    expect(problems).toHaveLength(1);
    for (const fact of [`LONGHAUL_PRICES_FILE is "${file}"`, ...facts]) expect(problems[0]).toContain(fact);
  });

  it('has the daily budgets of accounts', () => {
    const content = { prices: [], dailyBudgets: [{ account: 'studio', amount: '50.5EUR' }] };
    const { prices, problems } = read(content);

    expect(problems).toEqual([]);
    expect([...prices.dailyBudgets]).toEqual([['studio', { currency: 'EUR', micros: 50_500_000 }]]);
  });
});
