import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { layoutText } from '../../../../src/archive/batch-record';
import { runCommandLine } from '../../../../src/commands/program';
import { type BatchCommand, keptCommand } from '../../../../src/contract/batch/batch-command';
import type { BatchInput } from '../../../../src/contract/batch/batch-input';
import { FakeContext } from '../../../support/fake-context';
import { temporaryFolder } from '../../../support/temporary-folder';
import { filesIn } from './command-under-test';

const folder = temporaryFolder();
const file = filesIn(folder);
const archive = join(folder.path, 'archive');
const width = '2:ImageScale.width';
const seed = '3:KSampler.seed';
afterAll(() => {
  folder.remove();
});

/** What a run of the file with these options would start, and what the command said. */
async function prepare(...args: string[]) {
  const context = new FakeContext({ LONGHAUL_ARCHIVE: archive });
  await runCommandLine(['batch', 'run', '--prepare', ...args], context);
  const text = context.stdout.text;
  return { context, input: text === '' ? undefined : (JSON.parse(text) as BatchInput) };
}

/** As the worker keeps it. */
function record(id: string, command: BatchCommand | undefined): void {
  mkdirSync(join(archive, 'batches', id), { recursive: true });
  const layout = layoutText({ id, digest: 'd', rows: 1, pages: 1, command: keptCommand(command) });
  writeFileSync(join(archive, 'batches', id, 'batch.json'), layout);
}

describe('a batch that was run before', () => {
  it('is prepared again, row for row, by its file alone', async () => {
    const rows = file('again.csv', 'key;4:Text.text\na;0,5\nb;1,5\n');
    const picture = file('cat.jpg', 'cat');
    const options = [
      '--app',
      '1',
      '--delimiter',
      ';',
      '--decimal',
      'comma',
      '--budget',
      '20EUR',
      '--as',
      '1:L.image=name',
    ];
    const inputs = ['-i', `1:L.image=@${picture}`, '-s', '5:T.text=-1', '--vary', `${seed}=random*12`, '--yes'];
    const { input: first } = await prepare(rows, ...options, ...inputs, '--first', '3', '--allow-changed');
    record('again', first?.command);

    const { input: again, context } = await prepare(rows, '--first', '3');
    expect({ ...again, allowChanged: true }).toEqual(first);
    expect(context.stderr.text).toContain(`From the record of batch:again: --app 1 `);
    expect(again?.command?.options).toEqual(expect.arrayContaining(['--string', '5:T.text=-1', '--yes']));
    // What may pay rows anew is said anew.
    expect(again?.command?.options).not.toContain('--allow-changed');
  });

  it('has the options of the command before those on record, an input at a time', async () => {
    const rows = file('wins.csv', 'key\na\n');
    const { input } = await prepare(rows, '--app', '1', '-i', `${width}=256`, '-i', '4:T.text=x', '--budget', '5EUR');
    record('wins', input?.command);
    const { input: again, context } = await prepare(rows, '-s', `${width}=512`, '--budget', '9EUR');
    expect(again).toMatchObject({ budget: '9EUR' });
    const words = ['--app', '1', '--input', '4:T.text=x', '--string', `${width}=512`, '--budget', '9EUR'];
    expect([...(again?.command?.options ?? [])].sort()).toEqual([...words].sort());
    expect(context.stderr.text).toContain('From the record of batch:wins: --app 1 --input 4:T.text=x\n');
  });

  it('asks anew for a larger grid', async () => {
    const rows = file('grid.csv', 'key\na\n');
    const { input } = await prepare(rows, '--app', '1', '--vary', `${seed}=random*12`, '--yes');
    record('grid', input?.command);
    expect((await prepare(rows)).input?.rows.rows).toBe(12);
    expect((await prepare(rows, '--vary', `${seed}=random*13`)).context.exitCode).toBe(2);
  });

  it('has its paths from where it was run', async () => {
    const rows = file('paths.csv', 'key\na\n');
    file('p.json', '{"webAppId":1,"inputs":{}}');
    const context = Object.assign(new FakeContext({ LONGHAUL_ARCHIVE: archive }), { cwd: folder.path });
    const vary = '1:L.image=@cat.jpg,"@a, b.jpg",s3';
    file('cat.jpg', 'c');
    file('a, b.jpg', 'c');
    await runCommandLine(['batch', 'run', 'paths.csv', '--template', 'p.json', '--vary', vary, '--prepare'], context);
    const { command } = JSON.parse(context.stdout.text) as BatchInput;
    expect(command?.files).toEqual([rows]);
    record('paths', command);
    expect((await prepare(rows)).input?.rows.rows).toBe(3);
  });

  it('is found by the batch that its outputs are of, and by the app', async () => {
    const options = ['--from', 'drafts', '--app', '9', '-i', '1:LoadImage.image=output'];
    record('drafts-app-9', { folder: '/', files: [], options: [...options, '--budget', '5EUR'] });
    const { context } = await prepare('--from', 'drafts', '--app', '9');
    expect(context.stderr.text).toContain('From the record of batch:drafts-app-9: ');
    expect(context.stderr.text).toContain('--budget 5EUR');
  });

  it('is not started where its record cannot be read', async () => {
    const rows = file('unread.csv', 'key\na\n');
    mkdirSync(join(archive, 'batches', 'unread'), { recursive: true });
    writeFileSync(join(archive, 'batches', 'unread', 'batch.json'), 'no record');
    const context = new FakeContext({ LONGHAUL_ARCHIVE: archive, TEMPORAL_ADDRESS: '127.0.0.1:1' });
    await runCommandLine(['batch', 'run', rows, '--app', '1'], context);
    expect(context.stderr.text).toMatch(/batch\.json.* is damaged/);
    expect((await prepare(rows, '--app', '1')).context.exitCode).toBe(0);
  });

  it('has the number of rows to try on record, and does not take it from there', async () => {
    const rows = file('tried.csv', 'key\na\nb\n');
    const { input } = await prepare(rows, '--app', '1', '--first', '1');
    expect(input?.command?.options).toEqual(expect.arrayContaining(['--first', '1']));
    record('tried', input?.command);
    expect((await prepare(rows)).input).toMatchObject({ rows: { rows: 2 } });
  });

  it('has text with =@ in it as it was given', async () => {
    const rows = file('text.csv', 'key\na\n');
    const { input } = await prepare(rows, '--app', '1', '-i', '5:T.text=a=@b');
    expect(input?.command?.options).toContain('5:T.text=a=@b');
  });

  it.each([
    ['nothing', undefined, /No app: say --app/],
    ['options of another version', { folder: '/', files: [], options: ['--no-such', 'x'] }, /cannot be read/],
  ])('is refused with what is on record: %s', async (_, command, message) => {
    const rows = file('refused.csv', 'key\na\n');
    record('refused', command);
    const { context } = await prepare(rows);
    expect(context.exitCode).toBe(2);
    expect(context.stderr.text).toMatch(message);
  });
});

describe('what is kept of a command', () => {
  it.each<[string, BatchCommand]>([
    [
      'a secret',
      { folder: '/', files: ['/a.csv'], options: ['-i', '1:L.u=@https://h/x?X-Amz-Signature=0123456789abcdef'] },
    ],
    ['a key', { folder: '/', files: ['/a.csv'], options: ['-s', '1:L.u=Bearer abcdefghijklmnop0123456789'] }],
    ['too many files', { folder: '/', files: Array.from({ length: 400 }, () => '/a.jpg'), options: [] }],
    ['too long a text', { folder: '/', files: ['/a.csv'], options: ['-s', `1:T.t=${'x'.repeat(20_000)}`] }],
  ])('is nothing where it has %s', (_, command) => {
    expect(keptCommand(command)).toBeUndefined();
  });
});
