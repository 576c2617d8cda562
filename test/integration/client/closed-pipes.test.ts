import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { temporaryFolder } from '../../support/temporary-folder';

const root = path.join(__dirname, '../../..');
const folder = temporaryFolder();
afterAll(() => {
  folder.remove();
});

function prepareBatch(stderr: 'pipe' | number) {
  const file = path.join(folder.path, 'rows.csv');
  writeFileSync(file, 'key,1:A.b\na,1\n');
  const args = ['batch', 'run', file, '--app', '1', '--prepare'];
  return spawn(process.execPath, ['--import', 'tsx', path.join(root, 'src/cli.ts'), ...args], {
    cwd: root,
    env: { PATH: process.env['PATH'] },
    stdio: ['pipe', 'pipe', stderr],
  });
}

async function endOf(child: ReturnType<typeof prepareBatch>): Promise<{ result: string; code: number | null }> {
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  const [result, code] = await Promise.all([text(child.stdout ?? Readable.from([])), ended]);
  return { result, code };
}

describe('a command whose notes cannot be written', () => {
  it('since nobody reads them any more goes on, and prints its result', async () => {
    const child = prepareBatch('pipe');
    child.stderr?.destroy();
    const { result, code } = await endOf(child);

    expect(code).toBe(0);
    expect(JSON.parse(result)).toMatchObject({ id: 'rows', rows: { rows: 1 } });
  });

  it('since their disk is full goes on, and prints its result', async () => {
    const full = openSync('/dev/full', 'w');
    const { result, code } = await endOf(prepareBatch(full));
    closeSync(full);

    expect(code).toBe(0);
    expect(JSON.parse(result)).toMatchObject({ id: 'rows', rows: { rows: 1 } });
  });
});
