import { Client, Connection } from '@temporalio/client';
import { InputInvalidError, Longhaul } from '../../../src/index';

let connection: Connection;
let longhaul: Longhaul;
beforeAll(() => {
  // Nothing listens there: what is not refused before it is sent fails otherwise.
  connection = Connection.lazy({ address: '127.0.0.1:1', connectTimeout: 1 });
  longhaul = new Longhaul({ client: new Client({ connection }) });
});
afterAll(() => connection.close());

describe('a value that cannot be meant is refused before anything is sent', () => {
  it.each([
    [0, 'rows is 0; give a whole number from 1 to 500.'],
    ['4', 'rows is "4"; give a whole number from 1 to 500.'],
    [undefined, 'rows is missing; give a whole number from 1 to 500.'],
  ])('as the rows that run at the same time: %p', async (rows, problem) => {
    await expect(longhaul.batch('photos').setConcurrency(rows as number)).rejects.toThrow(InputInvalidError);
    await expect(longhaul.batch('photos').setConcurrency(rows as number)).rejects.toThrow(problem);
  });

  it.each([
    [5, 'budget is 5; give an amount of a currency such as "20EUR"'],
    ['lots', 'budget is "lots"; give an amount of a currency such as "20EUR"'],
    [undefined, 'budget is missing; give an amount of a currency such as "20EUR"'],
  ])('as a budget: %p', async (budget, problem) => {
    await expect(longhaul.batch('photos').setBudget(budget as string)).rejects.toThrow(InputInvalidError);
    await expect(longhaul.batch('photos').setBudget(budget as string)).rejects.toThrow(problem);
  });

  it.each([
    [5, 'everyMs is 5; give milliseconds from 300000 (five minutes) to 2592000000 (thirty days), such as 3600000.'],
    ['600000', 'everyMs is "600000"; give milliseconds from 300000'],
  ])('as the time between sweeps: %p', async (everyMs, problem) => {
    await expect(longhaul.sweeps.install(everyMs as number)).rejects.toThrow(InputInvalidError);
    await expect(longhaul.sweeps.install(everyMs as number)).rejects.toThrow(problem);
  });
});
