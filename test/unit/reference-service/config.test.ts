import { readSettings } from '../../../reference-service/config';
import { Ledger } from '../../../reference-service/ledger';

describe('the settings', () => {
  it('have a default for everything, with a key of their own at each start', () => {
    const [one, two] = [readSettings({}), readSettings({})];

    expect(one).toMatchObject({ port: 0, host: '127.0.0.1', signingRegion: 'cn-shanghai', slots: 4 });
    expect(one.accounts[0]?.apiKey).not.toBe(two.accounts[0]?.apiKey);
  });

  it('change the code of one refusal and leave the others', () => {
    const { refusalCodes } = readSettings({ refusals: { queueFull: { httpStatus: 429 } } });

    expect(refusalCodes.queueFull).toEqual({ code: 30039, httpStatus: 429 });
    expect(refusalCodes.taskNotFound).toEqual({ code: 30009, httpStatus: 404 });
  });

  it('are refused all together when several are wrong', () => {
    expect(() => readSettings({ slots: 0, port: -1 })).toThrow(/slots/);
    expect(() => readSettings({ slots: 0, port: -1 })).toThrow(/port/);
  });
});

describe('the ledger', () => {
  it('stays bounded per endpoint while its totals count on', () => {
    const ledger = new Ledger(100);
    ledger.open({ method: 'POST', path: '/create', endpoint: 'create' });
    for (let poll = 0; poll < 1000; poll += 1) ledger.open({ method: 'GET', path: '/detail', endpoint: 'detail' });

    expect(ledger.count({ endpoint: 'create' })).toBe(1);
    expect(ledger.count({ endpoint: 'detail' })).toBeLessThanOrEqual(100);
    expect(ledger.total('detail')).toBe(1000);
  });
});
