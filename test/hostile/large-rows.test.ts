import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { longhaulCommand } from '../support/product-build';
import { runToEnd } from '../support/run-longhaul';
import { temporaryFolder } from '../support/temporary-folder';
import { workbook } from '../support/workbook-file';

const folder = temporaryFolder();
afterAll(folder.remove);

describe('a hundred thousand rows', () => {
  const count = 100_000;
  const report = join(folder.path, 'report-memory.cjs');
  const memory = join(folder.path, 'memory');

  function aWorkbook(): string[] {
    const rows = Array.from({ length: count }, (_, n) => [`article ${n}`, `A postcard number ${n}, at night`]);
    const path = join(folder.path, 'large.xlsx');
    writeFileSync(path, workbook({ rows: { One: [['key', '3:Text.text'], ...rows] } }));
    return [path];
  }

  function aFolder(): string[] {
    const path = join(folder.path, 'photos');
    mkdirSync(path);
    for (let n = 0; n < count; n += 1) {
      writeFileSync(join(path, `photo-${n}.jpg`), 'x');
      writeFileSync(join(path, `photo-${n}.xmp`), '');
    }
    symlinkSync(path, join(path, 'loop'));
    symlinkSync('loop.jpg', join(path, 'loop.jpg'));
    execFileSync('mkfifo', [join(path, 'pipe.jpg')]);
    writeFileSync(Buffer.concat([Buffer.from(`${path}/caf`), Buffer.from([0xe9]), Buffer.from('.jpg')]), 'x');
    return [path, '--each', '1:LoadImage.image', '--recursive', '--skip-bad'];
  }

  it.each([
    ['a workbook', aWorkbook, 0],
    ['a folder of 200,000 files, with pipes, loops and names that are not UTF-8', aFolder, 2],
  ])('of %s are checked in 250 MB', async (_what, make, badRows) => {
    const write = `fs.writeFileSync(${JSON.stringify(memory)}, fs.readFileSync('/proc/self/status'))`;
    writeFileSync(report, `const fs = require('fs'); process.on('exit', () => ${write});`);
    const command = longhaulCommand(['batch', 'run', ...make(), '--app', '1', '--dry-run', '--json']);
    const env = { ...process.env, NODE_OPTIONS: `--require ${report}` };
    const { exitCode, stdout } = await runToEnd(command, { env, timeout: 200_000 });
    const events = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const checked = events.find(({ event }) => event === 'checked');
    expect({ exitCode, ...checked }).toMatchObject({ exitCode: 0, goodRows: count, badRows });
    // Not the `maxRSS` of `resourceUsage`: that has what its parent had.
    const [, kilobytes] = /VmHWM:\s+(\d+)/.exec(readFileSync(memory, 'utf8')) ?? [];
    expect(Number(kilobytes) * 1024).toBeLessThan(250_000_000);
  });
});
