import { idOfFile } from '../../../../src/commands/batch/batch-settings';

describe('the id of a batch that nobody named', () => {
  it.each([
    ['/data/photos.csv', /^photos$/],
    ['My Photos (2026).jsonl', /^My-Photos-2026-[0-9a-f]{16}$/],
    ['猫.csv', /^key-[0-9a-f]{16}$/],
  ])('of %s is the name of the row file, made a key', (name, id) => {
    expect(idOfFile(name)).toMatch(id);
  });

  it.each([
    ...['orders (1).csv', 'orders(12).csv', 'orders - Copy (2).csv', '/data/orders copy.csv', 'orders copy 2.csv'],
    ...['Copy of orders.csv', 'Copy (2) of orders.csv', 'orders (copy).csv', 'orders - Kopie.csv'],
    ...['Kopie von orders.csv', 'Copy of orders (1).csv', 'Copy of Copy of orders.csv', 'orders (1) (1).csv'],
  ])('is refused for %s, which is named as a copy', (name) => {
    expect(() => idOfFile(name)).toThrow(
      /^.*orders.* copy of another file.* --id orders to go on .*, or another --id/m,
    );
  });

  it.each(['/data/results.csv', 'Results.CSV', 'results (1).csv', 'results.jsonl', 'orders-results.csv'])(
    'is refused for %s, which is named as the results of a batch',
    (name) => {
      expect(() => idOfFile(name)).toThrow(/is named as the results of a batch.* --id of the batch/);
    },
  );

  it.each(['orders-2', 'orders 2', 'orders (2026)', 'copy', 'photocopy', '(1)', 'my results'])(
    'is derived of %s, which is not named as a copy',
    (name) => {
      expect(idOfFile(`${name}.csv`)).toMatch(/^[\w-]+$/);
    },
  );
});
