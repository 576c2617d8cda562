import { Argument, type Command } from 'commander';
import type { CommandContext } from './command-context';

const help = `
Examples:
  $ echo 'source <(longhaul completion bash)' >> ~/.bashrc
  $ echo 'source <(longhaul completion zsh)' >> ~/.zshrc
  $ longhaul completion fish > ~/.config/fish/completions/longhaul.fish
`;

/** The script has all names: completion does not start `longhaul`. */
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

/** `path`: the words of the command, such as `['batch', 'run']`. */
interface Place {
  readonly path: readonly string[];
  readonly subcommands: readonly Command[];
  readonly options: readonly string[];
  readonly choices: readonly string[];
  /** Options that take a value, and what it can be; empty: anything, such as a file. */
  readonly values: readonly (readonly [option: string, choices: readonly string[]])[];
}

function placesOf(command: Command, path: readonly string[] = []): readonly Place[] {
  const shown = command.options.filter(({ hidden }) => !hidden);
  const options = shown.flatMap(({ long }) => (long == null ? [] : [long]));
  const values = shown
    .filter(({ required, optional }) => required || optional)
    .flatMap(({ short, long, argChoices = [] }) =>
      [short, long].flatMap((name) => (name == null ? [] : [[name, argChoices] as const])),
    );
  const named = path.length === 1 && path[0] === 'help' ? (command.parent?.commands ?? []) : [];
  const choices = [
    ...command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
    ...named.map((one) => one.name()),
  ];
  return [
    { path, subcommands: command.commands, options: [...options, '--help'], choices, values },
    ...command.commands.flatMap((one) => placesOf(one, [...path, one.name()])),
  ];
}

/** Bash's own, which zsh takes over. Where no name fits, files do. */
function bashScript(places: readonly Place[], shell: 'bash' | 'zsh'): string {
  const paths = places.filter(({ path }) => path.length > 0).map(({ path }) => `'${[...path, ''].join(' ')}'`);
  const caseOf = (words: readonly string[], found: string): string => `    '${words.join(' ')}') words='${found}' ;;`;
  const names = places.map(({ path, subcommands, choices }) =>
    caseOf(path, [...subcommands.map((one) => one.name()), ...choices].join(' ')),
  );
  const options = places.map((place) => caseOf(place.path, place.options.join(' ')));
  const values = places.flatMap((place) =>
    place.values.map(([option, choices]) => caseOf([...place.path, option], choices.join(' '))),
  );
  return [
    ...(shell === 'zsh' ? ['autoload -U +X bashcompinit && bashcompinit'] : []),
    '_longhaul() {',
    "  local word place='' words='' last=${COMP_WORDS[COMP_CWORD-1]} current=${COMP_WORDS[COMP_CWORD]}",
    '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
    '    case "$place$word " in',
    `      ${paths.join('|')}) place="$place$word " ;;`,
    '    esac',
    '  done',
    '  case "${place% }" in',
    ...names,
    '  esac',
    '  if [[ $current == -* ]]; then',
    '  case "${place% }" in',
    ...options,
    '  esac',
    '  fi',
    '  case "${place}$last" in',
    ...values,
    '  esac',
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
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
      ...subcommands.map((one) => {
        const what = (one.summary() || one.description()).replaceAll("'", '’');
        return `${where} -f -a ${one.name()} -d '${what}'`;
      }),
      ...options.map((option) => `${where} -l ${option.slice(2)}`),
    ];
  });
  return [...lines, ''].join('\n');
}
