import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CommandEnd, runToEnd } from '../support/run-longhaul';
import { npm } from './packed-packages';

const typescript = require.resolve('typescript/bin/tsc');

/** A project that uses Longhaul, in a folder of its own: no checkout of Longhaul is above it. */
export class ConsumerProject {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** Makes a project and installs a tarball into it, with what it needs from the npm registry. */
  static async install(folder: string, tarball: string): Promise<ConsumerProject> {
    mkdirSync(folder);
    writeFileSync(join(folder, 'package.json'), '{ "name": "consumer", "private": true }');
    await npm(['install', '--omit=dev', tarball], folder);
    return new ConsumerProject(folder);
  }

  /** Of `node_modules` on the disk. */
  sizeMb(): number {
    return Number(/^\d+/.exec(execFileSync('du', ['-sm', this.#path('node_modules')], { encoding: 'utf8' }))?.[0]);
  }

  /** Names of all packages that were installed. */
  packages(): string[] {
    const lockfile = readFileSync(this.#path('node_modules/.package-lock.json'), 'utf8');
    return Object.keys((JSON.parse(lockfile) as { packages: object }).packages);
  }

  write(file: string, text: string): void {
    writeFileSync(this.#path(file), text);
  }

  /** Runs a program of the project's. */
  run(args: readonly string[], env: NodeJS.ProcessEnv, node = process.execPath): Promise<CommandEnd> {
    return runToEnd({ command: node, args }, { cwd: this.folder, env, timeout: 60_000 });
  }

  /** Compiles a source; what is wrong with it, or with the declarations that it uses, is in `stdout`. */
  compile(file: string, options: readonly string[]): Promise<CommandEnd> {
    const strict = ['--strict', '--target', 'es2022', '--types', 'node', '--ignoreConfig'];
    return this.run([typescript, ...strict, ...options, file], process.env);
  }

  #path(file: string): string {
    return join(this.folder, file);
  }
}
