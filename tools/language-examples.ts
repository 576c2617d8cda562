import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { findPython } from './find-debian-program';
import { findExecutable } from './find-executable';
import type { FindOptions } from './find-temporal';
import { goBuildPhase, goFailure } from './go-build-log';
import { createProgress } from './progress';
import { supervise } from './supervise';
import { toolCacheDir } from './tool-cache';
import { ToolError } from './tool-error';
import { withToolLock } from './tool-lock';

/** The examples in Python and in Go. */
export const languageExamples = {
  python: join(__dirname, '../examples/python'),
  go: join(__dirname, '../examples/go'),
};

const packagesFile = join(languageExamples.python, 'requirements-dev.txt');

/**
 * The Python of a virtual environment with exactly the packages of `examples/python/requirements-dev.txt`, each checked by
 * its hash; made once, in the tool cache. Throws a `ToolError` that says what is missing.
 */
export async function preparePython(options: FindOptions = {}): Promise<string> {
  const { env = process.env, progress = createProgress() } = options;
  const python = await findPython(options);
  const pin = createHash('sha256').update(readFileSync(packagesFile)).update(python).digest('hex').slice(0, 12);
  const folder = join(toolCacheDir(env), `python-examples-${pin}`);
  const program = join(folder, 'bin/python');
  const complete = join(folder, '.complete');
  if (existsSync(complete)) return program;
  return await withToolLock(folder, { progress }, async () => {
    if (existsSync(complete)) return program;
    // An interrupted one may lack anything.
    await rm(folder, { recursive: true, force: true });
    progress.say('Installing the packages of the examples in Python, once.');
    const run = async (command: string, args: readonly string[], remedy: string): Promise<void> => {
      const step = await supervise({ command, args, env });
      const phase = (): string => step.output().trim().split('\n').at(-1)?.slice(0, 80) ?? '';
      const { code } = await progress.during('Python packages', phase, step.ended);
      if (code !== 0)
        throw new ToolError(`${[command, ...args].join(' ')} failed:\n${lastLines(step.output())}\n${remedy}`);
    };
    await run(python, ['-m', 'venv', folder], 'Make it work, on Debian with `apt-get install python3-venv`.');
    const install = ['-m', 'pip', 'install', '--require-hashes', '--only-binary', ':all:', '-r', packagesFile];
    await run(program, install, 'pip has to reach a registry of Python packages.');
    writeFileSync(complete, '');
    return program;
  });
}

/** Builds the examples in Go into a folder, of the modules that `go.sum` pins. Throws a `ToolError`. */
export async function buildGoExamples(folder: string, options: FindOptions = {}): Promise<void> {
  const { env = process.env, progress = createProgress() } = options;
  const go = findExecutable('go', env);
  if (go === undefined) {
    throw new ToolError('The tests of the examples in Go need Go on PATH. Install it from https://go.dev/dl/');
  }
  const build = await supervise({
    command: go,
    args: ['build', '-v', '-mod=readonly', '-buildvcs=false', '-ldflags=-s -w', '-o', `${folder}/`, './...'],
    cwd: languageExamples.go,
    env: { ...env, CGO_ENABLED: '0', GOWORK: 'off', GOOS: undefined, GOARCH: undefined },
  });
  const phase = (): string => goBuildPhase(build.output());
  const { code } = await progress.during('Building the examples in Go', phase, build.ended);
  if (code === 0) return;
  const remedy = 'Go 1.26 or newer and its module proxy are needed.';
  throw new ToolError(`The examples in Go could not be built:\n${goFailure(build.output())}\n${remedy}`);
}

function lastLines(text: string): string {
  return text.trim().split('\n').slice(-5).join('\n');
}
