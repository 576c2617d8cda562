import { lstatSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let folder: string | undefined;

/**
 * This process's own folder for contents on their way, in the temporary folder of the machine: made at the first use,
 * under a random name and for the own user only, so that nobody else can have put anything there; removed when the
 * process ends. One that a cleaner of temporary files has taken away is made anew.
 */
export function spoolFolder(): string {
  if (folder === undefined) process.once('exit', removeFolder);
  if (folder === undefined || !isOwnFolder(folder)) folder = mkdtempSync(join(tmpdir(), 'longhaul-spool-'));
  return folder;
}

function isOwnFolder(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isDirectory() === true && found.uid === process.getuid?.();
}

function removeFolder(): void {
  if (folder !== undefined && isOwnFolder(folder)) rmSync(folder, { recursive: true, force: true });
}
