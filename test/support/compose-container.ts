import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { composeEnvironment, composeService } from '../unit/deployment/compose-file';
import { longhaulCommand } from './product-build';
import { type CommandEnd, runToEnd } from './run-longhaul';
import { temporaryFolder } from './temporary-folder';

/** Of the image that the Dockerfile makes. */
const imageEntrypoint = ['node', 'lib/cli.js'];

/** Stands for the containers of the compose file whose steps end: runs what they run. */
export interface ComposeContainer {
  /**
   * Runs a step's own command as its container would.
   *
   * @param env - instead of what the compose file says, where that is of another machine.
   */
  run(name: string, env?: Readonly<Record<string, string>>): Promise<CommandEnd>;
  remove(): void;
}

/**
 * What the images have: these programs on PATH, and the built command line in the working directory.
 *
 * @param programs - by name, where each is.
 * @param values - of `.env`.
 */
export function composeContainer(
  programs: Readonly<Record<string, string>>,
  values: Readonly<Record<string, string>> = {},
): ComposeContainer {
  const { path: folder, remove } = temporaryFolder();
  mkdirSync(join(folder, 'bin'));
  for (const [name, path] of Object.entries(programs)) symlinkSync(path, join(folder, 'bin', name));
  mkdirSync(join(folder, 'lib'));
  const { command, args } = longhaulCommand([]);
  const run = `spawnSync(${JSON.stringify(command)}, [...${JSON.stringify(args)}, ...process.argv.slice(2)], { stdio: 'inherit' })`;
  writeFileSync(
    join(folder, 'lib/cli.js'),
    `const { spawnSync } = require('node:child_process');\nprocess.exitCode = ${run}.status;\n`,
  );
  return {
    run: (name, env = {}) => {
      const service = composeService(name);
      const words = [...(service.entrypoint ?? imageEntrypoint), ...(service.command ?? [])].map((text) =>
        text.replaceAll('$$', '$'),
      );
      const [shell = '', ...shellArgs] = words;
      const own = { PATH: `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}`, HOME: folder };
      return runToEnd(
        { command: shell, args: shellArgs },
        { cwd: folder, env: { ...composeEnvironment(name, values), ...own, ...env }, timeout: 120_000 },
      );
    },
    remove,
  };
}
