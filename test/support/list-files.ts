import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Every file below a folder, hidden ones too, by its path from there, sorted; none when there is no such folder. */
export function listFiles(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}
