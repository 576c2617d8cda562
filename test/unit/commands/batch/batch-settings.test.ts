import { idOfFiles } from '../../../../src/commands/batch/batch-settings';

describe('the id of a batch that nobody named', () => {
  it.each([
    ['/data/photos.csv', /^photos$/],
    ['My Photos (2026).jsonl', /^My-Photos-2026-[0-9a-f]{16}$/],
    ['猫.csv', /^key-[0-9a-f]{16}$/],
  ])('of %s is the name of the row file, made a key', (name, id) => {
    expect(idOfFiles([name], '/')).toMatch(id);
  });

  it.each(['/data/results.csv', 'Results.CSV', 'results.jsonl', 'orders-results.csv'])(
    'is refused for %s, which is named as the results of a batch',
    (name) => {
      expect(() => idOfFiles([name], '/')).toThrow(/is named as the results of a batch.* --id of the batch/);
    },
  );

  it.each(['orders-2', 'Copy of orders', 'orders (2026)', '(1)', 'my results'])(
    'is derived of %s, which is not named as results',
    (name) => {
      expect(idOfFiles([`${name}.csv`], '/')).toMatch(/^[\w-]+$/);
    },
  );
});
