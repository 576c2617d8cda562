import fc from 'fast-check';
import { parseResultNameTemplate, ResultNames } from '../../../src/archive/result-names';
import { foldCase, utf8Bytes } from '../../../src/core/text';
import { resultLineOf } from '../../support/archived-batch';
import { useFuzzSeed } from '../../support/fuzz-seed';

useFuzzSeed();

function namesOf(text: string): ResultNames {
  const { template, problem } = parseResultNameTemplate(text);
  if (problem !== undefined) throw new Error(problem);
  return new ResultNames(template);
}

describe('the names of results', () => {
  it.each([
    ['{key}{ext}', 'Äpfel (rot) & 苹果', 'Äpfel (rot) & 苹果.png'],
    ['{key}', 'میز‌ها 👩‍🔬 100%', 'میز‌ها 👩‍🔬 100%.png'],
    ['{key}', 'a/b:c*"?', 'a_b_c___.png'],
    ['{key}', '.htaccess', '_htaccess.png'],
    ['{key}', 'CON', '_CON.png'],
    ['{key}', 'gpj.\u202eexe', 'gpj._exe.png'],
    ['{index} {key}', 'a', '1 a.png'],
    ['{size}/{filename}', 'a', '_/photo.png'],
    ['{Größe} {key}{ext}.bak', 'a', 'XL a.png.bak.png'],
  ])('%s of %j is %j', (template, key, name) => {
    const cells = [['Größe', ' XL '] as const, ['size', ' '] as const];
    const row = resultLineOf('b', key, { file: 'photo.jpeg', cells });
    expect(namesOf(template).of(row, ['.png']).files).toEqual([name]);
  });

  it('are never those of another row, on any file system, and the same whichever rows are fetched', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', 'A', 'é', 'e\u0301', '-', '2', '/', '.', ' ', '\ud83d', '苹'),
      maxLength: 6,
    });
    const row = fc.record({ key: fc.oneof(text, fc.constant('苹'.repeat(200))), outputCount: fc.nat(3) });
    fc.assert(
      fc.property(fc.array(row), fc.constantFrom('{key}', '{index}-{key}', '{key}/{index}', 'x'), (rows, template) => {
        const lines = rows.map((one, index) => resultLineOf('b', one.key, { ...one, workflowId: `batch:b:${index}` }));
        const names = namesOf(template);
        const other = namesOf(template);
        for (const line of lines) {
          names.add(line);
          other.add(line);
        }
        const extensions = (count: number): string[] => Array<string>(count).fill('.png');
        const given = lines.map((line) => names.of(line, extensions(line.outputCount)));
        const all = given.flatMap(({ files, manifest }) => [...files, manifest]);
        expect(new Set(all.map(foldCase)).size).toBe(all.length);
        for (const part of all.flatMap((name) => name.split('/'))) {
          expect(part).not.toMatch(/^[. ]|[. ]$|[\p{Cs}\p{Cc}\\:*?]/u);
          expect(utf8Bytes(part)).toBeLessThanOrEqual(143);
        }
        const alone = lines.slice(-1).map((line) => other.of(line, extensions(line.outputCount)));
        expect(alone).toEqual(given.slice(-1));
      }),
    );
  });

  it.each(['', '/{key}', '{key', '{key}//{index}', `${'x'.repeat(130)}{key}`])('cannot be %j', (text) => {
    expect(parseResultNameTemplate(text).problem).toMatch(/^the names "/);
  });
});
