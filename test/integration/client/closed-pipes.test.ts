import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { temporaryFolder } from '../../support/temporary-folder';

const root = path.join(__dirname, '../../..');
const folder = temporaryFolder();
afterAll(() => {
  folder.remove();
});

describe('a command whose standard error nobody reads any more', () => {
  it('goes on, and prints its result', async () => {
    const file = path.join(folder.path, 'rows.csv');
    writeFileSync(file, 'key,1:A.b\na,1\n');
    const args = ['batch', 'run', file, '--app', '1', '--prepare'];
    const child = spawn(process.execPath, ['--import', 'tsx', path.join(root, 'src/cli.ts'), ...args], {
      cwd: root,
      env: { PATH: process.env['PATH'] },
    });
    child.stderr.destroy();
    const ended = once(child, 'exit').then(([code]) => code as number | null);
    const [result, code] = await Promise.all([text(child.stdout), ended]);

    expect(code).toBe(0);
    expect(JSON.parse(result)).toMatchObject({ id: 'rows', rows: { rows: 1 } });
  });
});
