import { readFileSync } from 'node:fs';
import path from 'node:path';

/** The version of Longhaul, as its package says. */
export function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(path.join(__dirname, '../../package.json'), 'utf8'));
  const isManifest = typeof manifest === 'object' && manifest !== null && 'version' in manifest;
  return isManifest ? String(manifest.version) : 'unknown';
}
