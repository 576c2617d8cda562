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

let program: Command;
beforeAll(async () => {
  program = await buildWholeProgram(new FakeContext());
});

/** Commander's own judgement of these words; `undefined` when it takes them. Nothing is run. */
function problemOf(args: readonly string[], isWhole: boolean): string | undefined {
  let command = program;
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

function problemsOf(blocks: readonly CodeBlock[], isWhole: boolean): string[] {
  return blocks.flatMap(({ code, place }) =>
    longhaulCommands(code).flatMap((args) => {
      const problem = problemOf(args, isWhole);
      return problem === undefined ? [] : [`${place}: ${problem}`];
    }),
  );
}

// What was said of an earlier version is not changed.
const pages = markdownPages().filter(({ path }) => path !== 'CHANGELOG.md');

describe('a command in the documentation', () => {
  it('is one that exists, with options, values and arguments that it takes', () => {
    const blocks = pages.flatMap(codeBlocks).filter(({ language }) => language === 'sh');
    expect(blocks.flatMap(({ code }) => longhaulCommands(code)).length).toBeGreaterThan(40);

    expect(problemsOf(blocks, true)).toEqual([]);
  });

  it('within a sentence is one that exists, with options that it has', () => {
    const spans = pages.flatMap(codeSpans).filter(({ code }) => /^longhaul [a-z]/.test(code));
    expect(spans.length).toBeGreaterThan(100);

    expect(problemsOf(spans, false)).toEqual([]);
  });

  it.each([
    ['longhaul rum 1', 'is no command'],
    ['KEY=1 longhaul list --state Running | head', 'unknown --state'],
    ['longhaul costs --by colour', 'colour'],
    ['true && longhaul download', '0 arguments'],
  ])('would be found when it does not exist: %s', (code, problem) => {
    expect(problemsOf([{ language: 'sh', code, place: 'here' }], true)).toEqual([expect.stringContaining(problem)]);
  });
});
