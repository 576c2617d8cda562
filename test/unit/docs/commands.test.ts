import { type Command, CommanderError } from 'commander';
import { buildWholeProgram } from '../../../src/commands/program';
import { FakeContext } from '../../support/fake-context';
import { type CodeBlock, codeBlocks, codeSpans, markdownPages } from '../../support/markdown';

/** The words of each command `longhaul` in a shell script: up to a pipe, a redirection, a comment or the end of line. */
function longhaulCommands(script: string): string[][] {
  const lines = script.replaceAll(/\\\n/g, ' ').split('\n');
  return lines.flatMap((line) =>
    simpleCommands(line).flatMap((words) => {
      const at = words.findIndex((word) => !/^[A-Z_0-9]+=/.test(word));
      return words[at] === 'longhaul' ? [words.slice(at + 1)] : [];
    }),
  );
}

function simpleCommands(line: string): string[][] {
  const commands: string[][] = [[]];
  for (const [token, single, double] of line.matchAll(
    /#.*|[|;&]+|\d?[<>]+&?\d?|(?:'([^']*)'|"([^"]*)"|[^\s'"|;&<>#]|(?<=\S)#)+/g,
  )) {
    if (token.startsWith('#')) break;
    if (/^[|;&]/.test(token)) commands.push([]);
    else if (/^\d?[<>]/.test(token)) commands.at(-1)?.push('>');
    else commands.at(-1)?.push(single ?? double ?? token.replaceAll(/['"]/g, ''));
  }
  return commands.map((words) => (words.includes('>') ? words.slice(0, words.indexOf('>')) : words));
}

/** Commander's own judgement of these words; `undefined` when it takes them. Nothing is run. */
async function problemOf(args: readonly string[], { isWhole }: { isWhole: boolean }): Promise<string | undefined> {
  const context = new FakeContext();
  let command: Command = await buildWholeProgram(context);
  const rest = [...args];
  for (let next; (next = command.commands.find((one) => one.name() === rest[0])) !== undefined; rest.shift())
    command = next;
  if (command.commands.length > 0 && rest[0]?.startsWith('-') !== true) {
    return rest[0] === undefined && !isWhole ? undefined : `"${args.join(' ')}" is no command`;
  }
  try {
    const { operands, unknown } = command.parseOptions(rest);
    if (unknown.length > 0 && unknown[0] !== '--help') return `longhaul ${args.join(' ')}: unknown ${unknown[0] ?? ''}`;
    const known = command.registeredArguments;
    const required = isWhole && unknown.length === 0 ? known.filter((argument) => argument.required).length : 0;
    const most = known.some((argument) => argument.variadic) ? Infinity : known.length;
    if (operands.length >= required && operands.filter((word) => word !== '…').length <= most) return undefined;
    return `longhaul ${args.join(' ')}: ${operands.length} arguments`;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return `longhaul ${args.join(' ')}: ${error.message}`;
  }
}

async function problemsOf(blocks: readonly CodeBlock[], isWhole: boolean): Promise<string[]> {
  const found: string[] = [];
  for (const { code, place } of blocks) {
    for (const args of longhaulCommands(code)) {
      const problem = await problemOf(args, { isWhole });
      if (problem !== undefined) found.push(`${place}: ${problem}`);
    }
  }
  return found;
}

// What was said of an earlier version is not changed.
const pages = markdownPages().filter(({ path }) => path !== 'CHANGELOG.md');

describe('a command in the documentation', () => {
  it('is one that exists, with options, values and arguments that it takes', async () => {
    const blocks = pages.flatMap(codeBlocks).filter(({ language }) => language === 'sh');
    expect(blocks.flatMap(({ code }) => longhaulCommands(code)).length).toBeGreaterThan(40);

    expect(await problemsOf(blocks, true)).toEqual([]);
  });

  it('within a sentence is one that exists, with options that it has', async () => {
    const spans = pages.flatMap(codeSpans).filter(({ code }) => /^longhaul [a-z]/.test(code));
    expect(spans.length).toBeGreaterThan(100);

    expect(await problemsOf(spans, false)).toEqual([]);
  });

  it.each([
    ['longhaul rum 1', 'is no command'],
    ['longhaul batch walk photos.csv', 'is no command'],
    ['KEY=1 longhaul list --state Running | head', 'unknown --state'],
    ['longhaul status', '0 arguments'],
    ['longhaul status order-17 order-18 # two', '2 arguments'],
    ['longhaul costs --by colour', 'colour'],
    ['true && longhaul download', '0 arguments'],
  ])('would be found when it does not exist: %s', async (code, problem) => {
    expect(await problemsOf([{ language: 'sh', code, place: 'here' }], true)).toEqual([
      expect.stringContaining(problem),
    ]);
  });
});
