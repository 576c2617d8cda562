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

  it('gives a program that runs and leaves nothing else in the cache', async () => {
    const tool = writeTinyGoTool(folder);
    const env = { ...process.env, LONGHAUL_TOOLS: join(folder, 'cache') };
    const path = await buildGoTool(tool, { env, progress: silentProgress });
    expect(execFileSync('sh', ['-c', `'${path}' 2>&1`], { encoding: 'utf8' })).toBe('tiny\n');
    expect(readdirSync(dirname(path)).map((name) => join(dirname(path), name))).toEqual([path]);
  });

  it('builds once when two processes ask at the same time, and both get the same binary', async () => {
    const tool = writeTinyGoTool(folder);
    const { env, linkLog } = watchLinker(folder, 2);
    const builders = [0, 1].map(() => startScript('build-in-another-process.ts', [JSON.stringify(tool)], env));
    const paths = await Promise.all(builders.map(outputOf));
    expect(paths).toEqual([cachedToolPath(tool, env), cachedToolPath(tool, env)]);
    expect(linksIn(linkLog)).toBe(1);
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

  it('says that the module proxy was not reached, and what to do', async () => {
    const tool = writeTinyGoTool(folder);
    writeFileSync(
      join(tool.moduleDir, 'go.mod'),
      'module example.test/tiny\n\ngo 1.21\n\nrequire example.test/dep v1.2.3\n',
    );
    writeFileSync(
      join(tool.moduleDir, 'go.sum'),
      `example.test/dep v1.2.3 h1:${'A'.repeat(43)}=\nexample.test/dep v1.2.3/go.mod h1:${'A'.repeat(43)}=\n`,
    );
    // Port 9 is "discard": nobody listens there.
    const env = { ...process.env, LONGHAUL_TOOLS: join(folder, 'cache'), GOPROXY: 'http://127.0.0.1:9' };
    const building = buildGoTool(tool, { env, progress: silentProgress });
    await expect(building).rejects.toThrow(/connection refused[^]*did not reach its module proxy[^]*GOPROXY/);
  });

  it('says which Go to install when Go is too old', async () => {
    const tool = writeTinyGoTool(folder);
    writeFileSync(
      join(tool.moduleDir, 'go.mod'),
      'module example.test/tiny\n\ngo 1.99\n\nrequire example.test/dep v1.2.3\n',
    );
    const env = { ...process.env, LONGHAUL_TOOLS: join(folder, 'cache'), GOTOOLCHAIN: 'local' };
    const building = buildGoTool(tool, { env, progress: silentProgress });
    await expect(building).rejects.toThrow(/Install Go 1\.99 or newer/);
  });

  const commandLines = (): string => execFileSync('ps', ['-e', '-o', 'args'], { encoding: 'utf8' });
});
