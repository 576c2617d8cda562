import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { codeBlocks } from '../support/markdown';
import { ProcessStack } from '../support/process-stack';
import { type CommandEnd, runLonghaul } from '../support/run-longhaul';
import { shellWords } from '../support/shell-words';
import { photoFolder } from '../support/task-stack';

const path = 'docs/guides/recipes.md';
const text = readFileSync(join(__dirname, '../..', path), 'utf8');
/** A block behind the name of a file is that file. */
const fileBlock = /`([\w.-]+)`:\n\n```\w*\n(.*?)^```$/gms;
const recipes = text
  .split(/^## /m)
  .slice(1)
  .map((section) => ({
    title: section.split('\n', 1)[0] ?? '',
    files: [...section.matchAll(fileBlock)].map(([, name = '', content = '']) => [name, content] as const),
    blocks: codeBlocks({ path, text: section.replaceAll(fileBlock, '') }),
  }))
  .filter(({ blocks }) => blocks.some(({ language }) => language === 'sh'));

let stack: ProcessStack;
beforeAll(async () => {
  stack = await ProcessStack.open({ service: { slots: 20 } });
  mkdirSync(join(stack.inputs, 'photos'));
  for (const name of ['chelsea.png', 'coffee.png', 'rocket.jpg']) {
    cpSync(join(photoFolder, name), join(stack.inputs, 'photos', name));
    writeFileSync(join(stack.inputs, 'photos', name.replace(/\w+$/, 'txt')), `A picture of ${name}`);
  }
  mkdirSync(stack.archive);
  stack.env['LONGHAUL_INPUT_ROOTS'] = [stack.inputs, stack.archive].join(delimiter);
  await stack.startWorker();
});
afterAll(() => stack.close());

/** As a person types it, in the folder with the files, at the queue of these tests. */
function type(line: string): Promise<CommandEnd> {
  const words = shellWords(line);
  const isStart = words[0] === 'run' || (words[0] === 'batch' && words[1] === 'run');
  const args = isStart ? [...words, '--task-queue', stack.taskQueue] : words;
  return runLonghaul(args, stack.env, stack.inputs);
}

function linesOf(blocks: readonly { readonly language: string; readonly code: string }[], language: string): string[] {
  return blocks
    .filter((block) => block.language === language)
    .flatMap(({ code }) => code.replaceAll(/\\\n/g, ' ').trimEnd().split('\n'));
}

/** What the page shows, `…` standing for anything. */
function pattern(line: string): RegExp {
  return new RegExp(line.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`).replaceAll('…', '.*'));
}

describe('docs/guides/recipes.md', () => {
  it('has recipes', () => {
    expect(recipes.length).toBeGreaterThanOrEqual(8);
  });

  it.each(recipes.map((recipe) => [recipe.title, recipe] as const))(
    '%s: prints what the page shows, and pays nothing when it is repeated',
    async (_title, { blocks, files }) => {
      for (const [name, content] of files) writeFileSync(join(stack.inputs, name), content);
      const ends: CommandEnd[] = [];
      for (const line of linesOf(blocks, 'sh')) ends.push(await type(line));
      expect(ends.filter(({ exitCode }) => exitCode !== 0)).toEqual([]);
      const output = ends.map(({ stdout }) => stdout).join('');
      const shown = linesOf(blocks, '');
      expect(shown.length).toBeGreaterThan(0);
      for (const line of shown) expect(output).toMatch(pattern(line));

      const creates = stack.service.ledger.total('create');
      for (const line of linesOf(blocks, 'sh')) expect(await type(line)).toMatchObject({ exitCode: 0 });
      expect(stack.service.ledger.total('create')).toBe(creates);
    },
  );
});
