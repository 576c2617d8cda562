import { Argument, type Command } from 'commander';
import type { CommandContext } from './command-context';

const help = `
Examples:
  $ echo 'source <(longhaul completion bash)' >> ~/.bashrc
  $ echo 'source <(longhaul completion zsh)' >> ~/.zshrc
  $ longhaul completion fish > ~/.config/fish/completions/longhaul.fish
`;

/** `longhaul completion SHELL`: names of commands and options, completed without a start of `longhaul`. */
export function completionCommand(
  buildProgram: (context: CommandContext) => Promise<Command>,
): (program: Command, context: CommandContext) => void {
  return (program, context) => {
    program
      .command('completion')
      .description('Prints a script that completes the names of commands and options in a shell.')
      .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish']))
      .addHelpText('after', help)
      .action(async (shell: 'bash' | 'zsh' | 'fish') => {
        const places = placesOf(await buildProgram(context));
        context.stdout.write(shell === 'fish' ? fishScript(places) : bashScript(places, shell));
      });
  };
}

/** What can follow a command: the words of the command, such as `['batch', 'run']`, and its subcommands or options. */
interface Place {
  readonly path: readonly string[];
  readonly subcommands: readonly Command[];
  readonly options: readonly string[];
}

function placesOf(command: Command, path: readonly string[] = []): readonly Place[] {
  const options = command.options.filter(({ hidden }) => !hidden).flatMap(({ long }) => (long == null ? [] : [long]));
  return [
    { path, subcommands: command.commands, options: [...options, '--help'] },
    ...command.commands.flatMap((one) => placesOf(one, [...path, one.name()])),
  ];
}

/** Bash's own, which zsh takes over. Where no name fits, files do. */
function bashScript(places: readonly Place[], shell: 'bash' | 'zsh'): string {
  const paths = places.filter(({ path }) => path.length > 0).map(({ path }) => `'${[...path, ''].join(' ')}'`);
  const cases = places.map(({ path, subcommands, options }) => {
    const words = [...subcommands.map((one) => one.name()), ...options];
    return `    '${[...path, ''].join(' ').trimStart()}') words='${words.join(' ')}' ;;`;
  });
  return [
    ...(shell === 'zsh' ? ['autoload -U +X bashcompinit && bashcompinit'] : []),
    '_longhaul() {',
    "  local word place='' words=''",
    '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
    '    case "$place$word " in',
    `      ${paths.join('|')}) place="$place$word " ;;`,
    '    esac',
    '  done',
    '  case "$place" in',
    ...cases,
    '  esac',
    '  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))',
    '}',
    'complete -o default -F _longhaul longhaul',
    '',
  ].join('\n');
}

function fishScript(places: readonly Place[]): string {
  const lines = places.flatMap(({ path, subcommands, options }) => {
    const names = subcommands.map((one) => one.name()).join(' ');
    const isHere =
      path.length === 0
        ? '__fish_use_subcommand'
        : path.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and ');
    const isNotFurther = path.length > 0 && names !== '' ? `; and not __fish_seen_subcommand_from ${names}` : '';
    const where = `complete -c longhaul -n '${isHere}${isNotFurther}'`;
    return [
      ...subcommands.map((one) => `${where} -f -a ${one.name()} -d '${quoted(one.summary() || one.description())}'`),
      ...options.map((option) => `${where} -l ${option.slice(2)}`),
    ];
  });
  return [...lines, ''].join('\n');
}

function quoted(text: string): string {
  return text.replaceAll("'", '’');
}
