import type { Command } from 'commander';

/** `longhaul help COMMAND…`: the help of a command, and of one within another. */
export function addHelpCommand(program: Command): void {
  program
    .command('help')
    .summary('show the help of a command')
    .description('Shows the help of a command.')
    .argument('[command...]', 'its name, such as "batch run"')
    .addHelpText('after', '\nExample:\n  $ longhaul help batch run\n')
    .action((names: readonly string[]) => {
      commandAt(program, names).help();
    });
}

function commandAt(program: Command, names: readonly string[]): Command {
  return names.reduce((parent, name) => {
    const found = parent.commands.find((command) => command.name() === name);
    return found ?? parent.error(`error: unknown command '${name}'`);
  }, program);
}
