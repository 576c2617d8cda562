import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { temporalTool, versitygwTool } from '../../../tools/go-tool';
import { cachedToolPath, toolCacheDir } from '../../../tools/tool-cache';

describe('the tool cache', () => {
  it('is in LONGHAUL_TOOLS, else in the XDG cache, else in the cache of the home folder', () => {
    const env = { LONGHAUL_TOOLS: '/tools', XDG_CACHE_HOME: '/cache', HOME: '/home/me' };
    expect(toolCacheDir(env)).toBe('/tools');
    expect(toolCacheDir({ ...env, LONGHAUL_TOOLS: '' })).toBe('/cache/longhaul/tools');
    expect(toolCacheDir({ HOME: '/home/me' })).toBe('/home/me/.cache/longhaul/tools');
    expect(toolCacheDir({ LONGHAUL_TOOLS: 'tools-here' })).toBe(join(process.cwd(), 'tools-here'));
    expect(toolCacheDir({ XDG_CACHE_HOME: 'cache', HOME: '/home/me' })).toBe('/home/me/.cache/longhaul/tools');
  });

  it('gives a changed pin another name, so that it is built anew', () => {
    const folder = mkdtempSync(join(tmpdir(), 'longhaul-pin-'));
    const copy = { ...versitygwTool, moduleDir: join(folder, 's3') };
    cpSync(versitygwTool.moduleDir, copy.moduleDir, { recursive: true });
    const before = cachedToolPath(copy, { LONGHAUL_TOOLS: '/tools' });
    expect(before).toBe(cachedToolPath(versitygwTool, { LONGHAUL_TOOLS: '/tools' }));
    const machine = `${process.platform}-${process.arch}`;
    expect(before).toMatch(new RegExp(`^/tools/versitygw-v1\\.8\\.0-[0-9a-f]{12}-${machine}$`));
    writeFileSync(join(copy.moduleDir, 'go.sum'), 'another sum\n');
    expect(cachedToolPath(copy, { LONGHAUL_TOOLS: '/tools' })).not.toBe(before);
    rmSync(folder, { recursive: true });
  });

  it('says which file lacks a pin', () => {
    const unpinned = { ...temporalTool, module: 'example.test/not-there' };
    expect(() => cachedToolPath(unpinned, {})).toThrow(/go\.mod does not pin example\.test\/not-there/);
  });
});
