import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findTemporal, findTemporalProgram } from '../../../tools/find-temporal';
import { temporalTool } from '../../../tools/go-tool';
import { silentProgress } from '../../../tools/progress';
import type { Progress } from '../../../tools/progress';
import { cachedToolPath } from '../../../tools/tool-cache';

describe('finding Temporal', () => {
  let folder: string;
  let notes: string[];
  let progress: Progress;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'longhaul-find-'));
    notes = [];
    progress = { ...silentProgress, say: (line) => notes.push(line) };
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  /** A folder whose `temporal` answers `--version` with these words. */
  const pathWith = (versionWords: string): string => {
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'temporal'), `#!/bin/sh\necho '${versionWords}'\n`, { mode: 0o755 });
    return bin;
  };

  it('prefers the server at TEMPORAL_ADDRESS to all else', async () => {
    const PATH = pathWith('temporal version 1.8.2 (Server 1.31.2, UI 2.50.1)');
    expect(await findTemporal({ env: { TEMPORAL_ADDRESS: 'temporal.test:7233', PATH }, progress })).toEqual({
      address: 'temporal.test:7233',
    });
  });

  it('takes temporal from PATH when its server is new enough', async () => {
    const PATH = pathWith('temporal version 1.7.0 (Server 1.30.0, UI 2.45.3)');
    expect(await findTemporal({ env: { PATH }, progress })).toEqual({ path: join(PATH, 'temporal'), source: 'PATH' });
    expect(notes).toEqual([]);
  });

  it('passes over a temporal on PATH with an older server, says so, and takes the one in the cache', async () => {
    const own = await findTemporalProgram();
    const PATH = pathWith('temporal version 1.5.1 (Server 1.29.1, UI 2.42.1)');
    const env = { PATH, LONGHAUL_TOOLS: join(folder, 'tools') };
    mkdirSync(env.LONGHAUL_TOOLS);
    symlinkSync(own.path, cachedToolPath(temporalTool, env));
    expect(await findTemporal({ env, progress })).toEqual({ path: cachedToolPath(temporalTool, env), source: 'cache' });
    expect(notes.join('\n')).toContain('whose server is 1.29.1');
  });
});
