import { markdownPages, type Page, prose } from '../../support/markdown';

/** In words. */
const limits = { paragraph: 80, cell: 25, sentence: 30, readme: 600, all: 36_500 };
const pages = markdownPages().filter(({ path }) => /^(?:README\.md$|docs\/(?!decisions\/))/.test(path));

function countWords(text: string): number {
  return text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

/** What is too long, with its place. */
function problemsOf(page: Page): string[] {
  const parts = prose(page).flatMap(({ kind, text, place }) => {
    const sentences = kind === 'cell' ? [] : text.split(/(?<=[.!?:;])\s+(?=[\p{Lu}\p{N}"“(])/u);
    return [{ kind, text, place }, ...sentences.map((one) => ({ kind: 'sentence' as const, text: one, place }))];
  });
  return parts
    .map((part) => ({ ...part, words: countWords(part.text) }))
    .filter(({ kind, words }) => words > limits[kind])
    .map(({ kind, text, place, words }) => `${place}: ${kind} of ${words} words: ${text.slice(0, 60)}`);
}

describe('the documentation', () => {
  it('has no paragraph, cell or sentence that is too long', () => {
    expect(pages.flatMap(prose).length).toBeGreaterThan(1_000);

    expect(pages.flatMap(problemsOf)).toEqual([]);
  });

  it('is short', () => {
    const words = new Map(pages.map(({ path, text }) => [path, countWords(text)]));
    expect(words.size).toBeGreaterThan(25);

    expect(words.get('README.md')).toBeLessThanOrEqual(limits.readme);
    expect([...words.values()].reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(limits.all);
  });

  it('would be found when it is too long', () => {
    const many = (count: number): string => 'word '.repeat(count);
    const text = `# Page\n\n- ${'A b c. '.repeat(27)}\n\n| ${many(26)}|\n${many(31)}\n\`\`\`\n${many(81)}\n\`\`\`\n`;
    const found = problemsOf({ path: 'page.md', text }).map((problem) => problem.split(' words', 1)[0]);
    expect(found).toEqual(['page.md:3: paragraph of 81', 'page.md:5: cell of 26', 'page.md:6: sentence of 31']);
  });
});
