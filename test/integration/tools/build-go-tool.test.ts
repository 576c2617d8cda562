import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buildGoTool } from '../../../tools/build-go-tool';
import { silentProgress } from '../../../tools/progress';
import { cachedToolPath } from '../../../tools/tool-cache';
import { eventually } from '../../support/eventually';
import { outputOf, startScript } from './start-script';
import { watchLinker, writeTinyGoTool } from './tiny-go-tool';

describe('building a tool with Go', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'longhaul-build-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  const linksIn = (log: string): number => readFileSync(log, 'utf8').split('\n').filter(Boolean).length;
  const partialsBeside = (path: string): string[] =>
    readdirSync(dirname(path)).filter((name) => name.includes('.partial-'));

  it('builds once when two processes ask at the same time, and both get the same binary', async () => {
    const tool = writeTinyGoTool(folder);
    const { env, linkLog } = watchLinker(folder, 2);
    const builders = [0, 1].map(() => startScript('build-in-another-process.ts', [JSON.stringify(tool)], env));
    const paths = await Promise.all(builders.map(outputOf));
    expect(paths).toEqual([cachedToolPath(tool, env), cachedToolPath(tool, env)]);
    expect(linksIn(linkLog)).toBe(1);
    expect(execFileSync('sh', ['-c', `'${paths[0] ?? ''}' 2>&1`], { encoding: 'utf8' })).toBe('tiny\n');
    expect(readdirSync(join(folder, 'cache')).map((name) => join(folder, 'cache', name))).toEqual([paths[0]]);
  });

  it('leaves no binary when it is killed, ends the compiler with it, and the next build succeeds', async () => {
    const tool = writeTinyGoTool(folder);
    const { env, linkLog } = watchLinker(folder, 60);
    const path = cachedToolPath(tool, env);
    const builder = startScript('build-in-another-process.ts', [JSON.stringify(tool)], env);
    await eventually(() => linksIn(linkLog) === 1, { withinMs: 60_000, what: 'the linker to run' });
    builder.kill('SIGKILL');
    await once(builder, 'exit');
    expect(existsSync(path)).toBe(false);
    await eventually(() => !commandLines().includes(linkLog.replace('links.log', 'watch-linker.sh')), {
      what: 'the compiler to end',
    });

    // What a build that dies between its last two steps leaves behind.
    writeFileSync(`${path}.partial-1-1`, 'half a binary', { mode: 0o755 });
    const rebuilt = await buildGoTool(tool, {
      env: { ...env, GOFLAGS: '' },
      progress: silentProgress,
      lockStaleMs: 2000,
    });
    expect(rebuilt).toBe(path);
    expect(execFileSync('sh', ['-c', `'${path}' 2>&1`], { encoding: 'utf8' })).toBe('tiny\n');
    expect(partialsBeside(path)).toEqual([]);
  });

  it('says in Go’s own words what is wrong with the source, and how to repeat it', async () => {
    const tool = writeTinyGoTool(folder);
    writeFileSync(join(tool.moduleDir, 'main.go'), 'package main\n\nfunc main() { undefinedFunction() }\n');
    const env = { ...process.env, LONGHAUL_TOOLS: join(folder, 'cache') };
    const building = buildGoTool(tool, { env, progress: silentProgress });
    await expect(building).rejects.toThrow(
      /tiny v1\.2\.3 could not be built:[^]*undefined: undefinedFunction[^]*go build/,
    );
    expect(readdirSync(join(folder, 'cache'))).toEqual([]);
  });

  const commandLines = (): string => execFileSync('ps', ['-e', '-o', 'args'], { encoding: 'utf8' });
});
