import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ManifestInput } from '../../src/contract/activities';
import type { BatchResult } from '../../src/contract/batch/batch-messages';
import type { TaskResult } from '../../src/contract/task-result';
import { type BucketServer, startBucketServer } from '../support/bucket-server';
import { listFiles } from '../support/list-files';
import { ProcessStack } from '../support/process-stack';
import { type CommandEnd, runLonghaul } from '../support/run-longhaul';
import { photoFolder } from '../support/task-stack';
import { temporaryFolder } from '../support/temporary-folder';

const rowCount = 30;

/** The caller's machine: what lies here no worker can read. */
const here = temporaryFolder();
let stack: ProcessStack;
let storage: BucketServer;
let callerEnv: NodeJS.ProcessEnv;

beforeAll(async () => {
  stack = await ProcessStack.open();
  storage = await startBucketServer();
  const place = { ...storage.env, LONGHAUL_STAGING: `s3://${storage.bucket}/staging` };
  const env = { ...stack.env, ...place, LONGHAUL_INPUT_ROOTS: '' };
  await stack.startWorker(env);
  callerEnv = { ...env, LONGHAUL_API_KEY: '' };
  mkdirSync(join(here.path, 'photos'));
  for (const name of ['cat.png', 'same cat.png']) {
    copyFileSync(join(photoFolder, 'chelsea.png'), join(here.path, 'photos', name));
  }
  copyFileSync(join(photoFolder, 'rocket.jpg'), join(here.path, 'photos/rocket.jpg'));
});
afterAll(async () => {
  await stack.close();
  await storage.stop();
  here.remove();
});

function longhaul(...args: string[]): Promise<CommandEnd> {
  return runLonghaul([...args, '--task-queue', stack.taskQueue], callerEnv);
}

/** Thirty rows of one photo under two names. */
function writeRows(): string {
  const file = join(here.path, 'cats.csv');
  const rows = Array.from({ length: rowCount }, (_, index) => {
    return `row-${index},@photos/${index % 2 === 0 ? 'cat' : 'same cat'}.png,${32 + index}`;
  });
  writeFileSync(file, ['key,1:LoadImage.image,2:ImageScale.width', ...rows].join('\n'));
  return file;
}

function spent(): { creates: number; tokens: number; commits: number } {
  const { ledger } = stack.service;
  return { creates: ledger.total('create'), tokens: ledger.total('upload-token'), commits: ledger.total('commit') };
}

function runBatch(...more: string[]): Promise<CommandEnd> {
  return longhaul('batch', 'run', writeRows(), '--app', '1', '--json', ...more);
}

function ended({ stdout }: CommandEnd): BatchResult & { event: string } {
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as BatchResult & { event: string };
}

describe('files of a caller whose workers are on other machines', () => {
  it('reach the rows of a batch through the bucket: one photo, one upload, thirty tasks', async () => {
    const end = await runBatch();
    expect(end.stderr).toMatch(/Staged at s3:\/\/archive-of-tests\/staging: 2 files sent, .*, and the rows/);
    expect(ended(end)).toMatchObject({ event: 'ended' });
    expect(end.exitCode).toBe(0);
    expect(spent()).toEqual({ creates: rowCount, tokens: 1, commits: 1 });
    expect(listFiles(here.path)).not.toContain('.longhaul');
    expect(readdirSync(join(storage.bucketFolder, 'staging/rows'))).toEqual([
      expect.stringMatching(/^cats-[0-9a-f]{12}\.rows\.jsonl$/),
      expect.stringMatching(/^cats-[0-9a-f]{12}\.rows\.jsonl\.index$/),
    ]);
  });

  it('are neither staged nor uploaded again when the batch is run again', async () => {
    const before = spent();
    const end = await runBatch();
    expect(end.stderr).toMatch(/: 0 files sent, .*, 2 there before, and the rows/);
    expect(end.exitCode).toBe(0);
    expect(spent()).toEqual(before);
  });

  it('that changed are changed rows', async () => {
    copyFileSync(join(photoFolder, 'coffee.png'), join(here.path, 'photos/cat.png'));
    const end = await runBatch();
    copyFileSync(join(photoFolder, 'chelsea.png'), join(here.path, 'photos/cat.png'));
    expect(end.exitCode).not.toBe(0);
    expect(`${end.stdout}${end.stderr}`).toMatch(/RowsChanged|changed/);
  });

  it('reach a single task in the same way, and the manifest says where it was', async () => {
    const input = `1:LoadImage.image=@${join(here.path, 'photos/rocket.jpg')}`;
    const end = await longhaul('run', '1', '-i', input, '--json');
    expect(end.exitCode).toBe(0);
    const { manifest } = JSON.parse(end.stdout) as TaskResult;
    const { inputs } = JSON.parse(readFileSync(manifest ?? '', 'utf8')) as { inputs: ManifestInput[] };
    expect(inputs).toMatchObject([{ name: 'rocket.jpg' }]);
    expect(inputs[0]?.file).toBe(`s3://archive-of-tests/staging/${inputs[0]?.sha256 ?? ''}/rocket.jpg`);
  });

  it('are put in a bucket that doctor looks at', async () => {
    const doctor = (env: NodeJS.ProcessEnv): Promise<CommandEnd> =>
      runLonghaul(['doctor', '--task-queue', stack.taskQueue], env);
    const [there, none] = await Promise.all([
      doctor(callerEnv),
      doctor({ ...callerEnv, LONGHAUL_STAGING: 's3://no-such-bucket/staging' }),
    ]);
    expect(there.stdout).toMatch(/^ok +Staging: s3:\/\/archive-of-tests\/staging can be read$/m);
    expect(none).toMatchObject({ exitCode: 6 });
    expect(none.stdout).toMatch(
      /^FAIL Staging: .*s3:\/\/no-such-bucket\/staging cannot be read.*no bucket no-such-bucket/m,
    );
  });
});
