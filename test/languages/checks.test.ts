import { languageExamples } from '../../tools/language-examples';
import { type CommandEnd, runToEnd } from '../support/run-longhaul';
import { temporaryFolder } from '../support/temporary-folder';

const folder = temporaryFolder();
afterAll(folder.remove);

const good = { exitCode: 0, stdout: '' };

async function check(language: 'python' | 'go', command: string, ...args: readonly string[]): Promise<CommandEnd> {
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' };
  return await runToEnd({ command, args }, { cwd: languageExamples[language], env, timeout: 110_000 });
}

describe('the examples in Python', () => {
  const python = (...args: readonly string[]): Promise<CommandEnd> =>
    check('python', process.env['LONGHAUL_TEST_PYTHON'] ?? '', '-m', ...args);

  it('are formatted by black', async () => {
    expect(await python('black', '--check', '--quiet', '.')).toEqual({ ...good, stderr: '' });
  });

  it('are typed: mypy, strict', async () => {
    const checked = await python('mypy', '--strict', '--no-error-summary', '--cache-dir', folder.path, '.');
    expect(checked).toEqual({ ...good, stderr: '' });
  });
});

describe('the examples in Go', () => {
  it('are formatted by gofmt', async () => {
    expect(await check('go', 'gofmt', '-l', '.')).toEqual({ ...good, stderr: '' });
  });

  it('pass go vet', async () => {
    expect(await check('go', 'go', 'vet', '-mod=readonly', './...')).toEqual({ ...good, stderr: '' });
  });

  it('need exactly the modules of their go.mod', async () => {
    expect(await check('go', 'go', 'mod', 'tidy', '-diff')).toMatchObject(good);
  });
});
