import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryFolder } from '../../support/temporary-folder';

/** The project's folder. */
export const projectRoot = join(__dirname, '../../..');

/** Files to plant: their code by their path. */
export type PlantedFiles = Readonly<Record<string, string>>;

/** A folder laid out like the project, with its settings and packages, and none of its code. */
export class PlantedCheckout {
  readonly #folder = temporaryFolder();

  constructor() {
    for (const name of ['package.json', 'tsconfig.json', 'eslint.config.mjs', '.dependency-cruiser.js']) {
      cpSync(join(projectRoot, name), join(this.#folder.path, name));
    }
    symlinkSync(join(projectRoot, 'node_modules'), join(this.#folder.path, 'node_modules'));
  }

  /** Where it is; without links. */
  get path(): string {
    return this.#folder.path;
  }

  plant(files: PlantedFiles): void {
    for (const [path, code] of Object.entries(files)) {
      const file = join(this.#folder.path, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, `${code}\n`);
    }
  }

  /** Runs a package's program here and returns the report that it prints. */
  async run(packageName: string, program: string, args: readonly string[]): Promise<unknown> {
    const manifest = join(projectRoot, 'node_modules', packageName, 'package.json');
    const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: Record<string, string> };
    const script = join(dirname(manifest), bin[program] ?? '');
    const options = { cwd: this.#folder.path, maxBuffer: 64 * 1024 ** 2 };
    // Its exit code says that it found something, which is what it is planted for.
    const stdout = await new Promise<string>((resolve, reject) => {
      execFile(process.execPath, [script, ...args], options, (error, printed, complaint) => {
        if (printed === '') reject(new Error(complaint, { cause: error }));
        else resolve(printed);
      });
    });
    return JSON.parse(stdout);
  }

  remove(): void {
    this.#folder.remove();
  }
}
