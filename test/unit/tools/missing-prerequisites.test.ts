import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildGoTool } from '../../../tools/build-go-tool';
import { findChromium, findDebianProgram, findPromtool, findPython } from '../../../tools/find-debian-program';
import { findS3 } from '../../../tools/find-s3';
import { findTemporalProgram } from '../../../tools/find-temporal';
import { temporalTool } from '../../../tools/go-tool';
import { silentProgress } from '../../../tools/progress';
import { ToolError } from '../../../tools/tool-error';

describe('a missing prerequisite', () => {
  let folder: string;
  let env: NodeJS.ProcessEnv;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'longhaul-missing-'));
    env = { PATH: '', LONGHAUL_TOOLS: join(folder, 'tools') };
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  it('without Go, says what to install, and downloads nothing in its place', async () => {
    const notes: string[] = [];
    const progress = { ...silentProgress, say: (line: string) => notes.push(line) };
    const words =
      /temporal v1\.8\.2 .*Go 1\.26\.4 or newer, which is not on PATH\.\nInstall it from .*go\.dev.*PATH.*TEMPORAL_ADDRESS/;
    await expect(buildGoTool(temporalTool, { env, progress })).rejects.toThrow(words);
    await expect(findTemporalProgram({ env, progress })).rejects.toThrow(/needs Go 1\.26\.4 or newer/);
    await expect(findS3({ env, progress })).rejects.toThrow(/versitygw v1\.8\.0 .*needs Go .*go\.dev/s);
    await expect(findS3({ env, progress })).rejects.toThrow(ToolError);

    expect(notes).toEqual([]);
    const names = readdirSync(env['LONGHAUL_TOOLS'] ?? '');
    expect(names.filter((name) => name.startsWith('temporal') && !name.includes('.lock'))).toEqual([]);
  });

  it.each([
    ['a browser', findChromium, /need Chromium or Google Chrome on PATH.*apt-get install chromium/],
    ['promtool', findPromtool, /need promtool on PATH.*apt-get install prometheus/],
  ])('without %s, says what to install, and installs nothing on a person’s machine', async (_, find, words) => {
    await expect(find({ env, progress: silentProgress })).rejects.toThrow(words);
  });

  it('finds a program in the folders where Debian keeps it, before PATH', async () => {
    const program = { title: 'PostgreSQL', neededBy: 'tests', names: ['initdb'], debianPackage: 'postgresql' };
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    const find = (): Promise<string> =>
      findDebianProgram({ ...program, folders: () => [bin] }, { env, progress: silentProgress });
    await expect(find()).rejects.toThrow(/need PostgreSQL on PATH.*apt-get install postgresql/);
    writeFileSync(join(bin, 'initdb'), '', { mode: 0o755 });
    await expect(find()).resolves.toBe(join(bin, 'initdb'));
  });

  it('without a Python that will do, says what to install, and takes the next one on PATH that does', async () => {
    const [old, usable] = [join(folder, 'old'), join(folder, 'usable')];
    for (const [bin, code] of [
      [old, 1],
      [usable, 0],
    ] as const) {
      mkdirSync(bin);
      writeFileSync(join(bin, 'python3'), `#!/bin/sh\nexit ${code}\n`, { mode: 0o755 });
    }
    const find = (PATH: string): Promise<string> => findPython({ env: { ...env, PATH }, progress: silentProgress });
    await expect(find(old)).rejects.toThrow(/need Python 3\.11 or newer.*venv.*apt-get install python3-venv/);
    await expect(find(`${old}:${usable}`)).resolves.toBe(join(usable, 'python3'));
  });
});
