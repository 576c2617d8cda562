import { readFileSync } from 'node:fs';
import path from 'node:path';
import { readersOf, type Variable, variables } from '../../../src/config/variables';

/** The rows of the page's first table, cell by cell. */
function documentedRows(): string[][] {
  const page = readFileSync(path.join(__dirname, '../../../docs/reference/configuration.md'), 'utf8');
  return page
    .split('\n')
    .filter((line) => line.startsWith('| `LONGHAUL_'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

describe('docs/reference/configuration.md', () => {
  it('lists every variable of the schema, in its order, with its readers and its default', () => {
    const fromSchema = Object.entries<Variable>(variables).map(([name, variable]) => [
      `\`${name}\``,
      readersOf(variable).join(', '),
      variable.default,
    ]);

    expect(documentedRows().map((cells) => cells.slice(0, 3))).toEqual(fromSchema);
  });

  it('says what each of them means, and which are secret', () => {
    for (const [name, , , meaning = ''] of documentedRows()) {
      const variable = Object.entries<Variable>(variables).find(([known]) => `\`${known}\`` === name)?.[1];
      expect(meaning.length).toBeGreaterThan(20);
      expect(meaning.includes('Secret.')).toBe(variable?.isSecret === true);
    }
  });
});
