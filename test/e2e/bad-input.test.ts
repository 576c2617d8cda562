import { randomUUID } from 'node:crypto';
import { copyFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { msToTs } from '@temporalio/common/lib/time';
import { freePorts } from '../../tools/free-port';
import { eventually } from '../support/eventually';
import { ProcessStack } from '../support/process-stack';
import { type CommandEnd, runLonghaul } from '../support/run-longhaul';
import { photoFolder } from '../support/task-stack';

const wrongKey = `wrong-${randomUUID()}`;

let stack: ProcessStack;
/** `host:port` where nobody listens. */
let nobody: string;

beforeAll(async () => {
  stack = await ProcessStack.open();
  nobody = `127.0.0.1:${String((await freePorts(1))[0])}`;
  copyFileSync(join(photoFolder, 'rocket.jpg'), join(stack.inputs, 'rocket.jpg'));
  writeFileSync(join(stack.inputs, '../secret.txt'), 'not for anyone');
  symlinkSync(join(stack.inputs, '../secret.txt'), join(stack.inputs, 'link.png'));
  const accountsFile = join(stack.inputs, '../accounts.json');
  const accounts = { stranger: { apiKey: wrongKey }, away: { apiKey: 'key-of-away', serviceUrl: `http://${nobody}` } };
  writeFileSync(accountsFile, JSON.stringify(accounts));
  await stack.startWorker({ ...stack.env, LONGHAUL_ACCOUNTS_FILE: accountsFile });
});
afterAll(() => stack.close());

function run(...args: string[]): Promise<CommandEnd> {
  return stack.run('run', ...args, '--task-queue', stack.taskQueue);
}

function photo(value: string): string {
  return `1:LoadImage.image=@${value}`;
}

/** Creates that the service carried out, by now. */
function paidCreates(): number {
  return stack.service.ledger.entries({ endpoint: 'create' }).filter(({ requestId }) => requestId !== undefined).length;
}

/** The command ended so, said all of this on standard error, and nothing was paid meanwhile. */
async function expectRefusal(command: Promise<CommandEnd>, exitCode: number, words: readonly string[]): Promise<void> {
  const before = paidCreates();
  const end = await command;
  const missing = words.filter((word) => !end.stderr.includes(word));
  expect({ exitCode: end.exitCode, stdout: end.stdout, missing }).toEqual({ exitCode, stdout: '', missing: [] });
  expect(JSON.stringify(end)).not.toMatch(new RegExp(`${wrongKey}|c0ffee5ecret`));
  expect(paidCreates()).toBe(before);
}

/** What `longhaul status` prints as soon as it has these words. */
async function statusThatSays(key: string, words: string): Promise<string> {
  const find = async (): Promise<string> => {
    const { stdout } = await stack.run('status', key);
    return stdout.includes(words) ? stdout : '';
  };
  return eventually(find, { what: `the status to say: ${words}` });
}

describe('a task that cannot be run ends before anything is paid, with what is wrong:', () => {
  it.concurrent.each<[string, number, () => string[], (string | (() => string))[]]>([
    ['a file that is missing', 2, () => ['1', '-i', photo(join(stack.inputs, 'no.jpg'))], ['does not exist']],
    [
      'a link out of the allowed folders',
      2,
      () => ['1', '-i', photo(join(stack.inputs, 'link.png'))],
      ['1:LoadImage.image', () => join(stack.inputs, 'link.png'), 'LONGHAUL_INPUT_ROOTS'],
    ],
    [
      'a file on a private host',
      2,
      () => ['1', '-i', photo(`https://${nobody}/cat.png`)],
      [() => `https://${nobody}/cat.png`, 'LONGHAUL_INPUT_HOSTS'],
    ],
    [
      'a signed link, whose signature is not repeated',
      2,
      () => ['1', '-i', photo('https://pictures.example/cat.png?X-Amz-Signature=c0ffee5ecret')],
      ['1:LoadImage.image', 'X-Amz-Signature'],
    ],
    [
      'an unknown account',
      2,
      () => ['1', '--account', 'nobody', '-i', photo(join(stack.inputs, 'rocket.jpg'))],
      ['AccountUnknown', 'default, stranger, away'],
    ],
    [
      'what the service refuses, in its words',
      3,
      () => ['1', '-i', '2:ImageScale.width=wide', '-i', photo(join(stack.inputs, 'rocket.jpg'))],
      ['2:ImageScale.width', 'TaskRejected'],
    ],
    [
      'a wrong API key, which is waited for',
      3,
      () => ['1', '--account', 'stranger', '-i', photo(join(stack.inputs, 'rocket.jpg')), '--deadline-total', '5s'],
      ['DeadlineExceeded', 'account "stranger"', 'LONGHAUL_ACCOUNTS_FILE'],
    ],
    [
      'a wrong API key that the create is the first to show',
      3,
      () => ['5', '--account', 'stranger', '--deadline-total', '5s'],
      ['DeadlineExceeded', 'account "stranger"', 'LONGHAUL_ACCOUNTS_FILE'],
    ],
    [
      'a service that is away until the deadline',
      3,
      () => ['5', '--account', 'away', '--deadline-total', '2s'],
      ['DeadlineExceeded', () => nobody],
    ],
  ])('%s', async (_what, exitCode, args, words) => {
    const said = words.map((word) => (typeof word === 'string' ? word : word()));
    await expectRefusal(run(...args()), exitCode, said);
  });
});

describe('what is away for a while is waited for, and the status says so:', () => {
  it.concurrent('the service', async () => {
    const key = randomUUID();
    const started = await run('5', '--account', 'away', '--key', key, '--detach');
    expect(started).toMatchObject({ exitCode: 0, stdout: `task:${key}\n` });
    const stdout = await statusThatSays(key, 'ECONNREFUSED');
    expect(stdout).toContain(nobody);
    expect(stdout).toContain('a create that was not sent costs nothing');
    expect(await stack.run('stop', key, '--wait')).toMatchObject({ exitCode: 4 });
  });

  it('the archive, before anything is paid', async () => {
    const key = randomUUID();
    const before = paidCreates();
    renameSync(stack.archive, `${stack.archive}-away`);
    writeFileSync(stack.archive, 'not a folder');
    await run('5', '--key', key, '--detach');
    expect(await statusThatSays(key, `the archive ${stack.archive}`)).toContain('name a folder');
    expect(paidCreates()).toBe(before);

    rmSync(stack.archive);
    renameSync(`${stack.archive}-away`, stack.archive);
    expect(await stack.run('status', key, '--follow')).toMatchObject({ exitCode: 0 });
    expect(paidCreates()).toBe(before + 1);
  });
});

describe('a program does not start', () => {
  it.concurrent.each<[string, string, () => NodeJS.ProcessEnv, number, string[]]>([
    [
      'a configuration that cannot be used, all of whose problems are told',
      'worker',
      () => ({ LONGHAUL_SERVICE_URL: 'ftp://service', LONGHAUL_API_KEY: '', LONGHAUL_LOG_LEVEL: 'loud' }),
      2,
      ['LONGHAUL_SERVICE_URL', 'ftp://service', 'LONGHAUL_API_KEY', 'LONGHAUL_LOG_LEVEL'],
    ],
    [
      'an archive that cannot be written',
      'worker',
      () => ({ LONGHAUL_ARCHIVE: join(stack.inputs, 'rocket.jpg') }),
      2,
      ['LONGHAUL_ARCHIVE', 'rocket.jpg'],
    ],
    ['no Temporal', 'worker', () => ({ TEMPORAL_ADDRESS: nobody }), 6, ['TEMPORAL_ADDRESS']],
    ['no namespace', 'worker', () => ({ TEMPORAL_NAMESPACE: 'nowhere' }), 6, ['"nowhere"', 'TEMPORAL_NAMESPACE']],
    // It has loaded Temporal's native part, and ends all the same.
    ['no Temporal, a replay', 'replay', () => ({ TEMPORAL_ADDRESS: nobody }), 6, ['TEMPORAL_ADDRESS']],
    ['no Temporal, a list', 'list', () => ({ TEMPORAL_ADDRESS: nobody }), 6, ['TEMPORAL_ADDRESS']],
  ])('with %s', async (_what, command, env, exitCode, words) => {
    await expectRefusal(runLonghaul([command], { ...stack.env, ...env() }), exitCode, words);
  });

  it.concurrent('without the search attributes, until they are registered as it says', async () => {
    const namespace = `bare-${randomUUID()}`;
    const env = { ...stack.env, TEMPORAL_NAMESPACE: namespace, LONGHAUL_ARCHIVE: join(stack.archive, namespace) };
    const retention = { workflowExecutionRetentionPeriod: msToTs('1 day') };
    await stack.client.workflowService.registerNamespace({ namespace, ...retention });
    // A namespace that was just registered is not known at once.
    const refused = await eventually(async () => {
      const end = await runLonghaul(['worker'], env);
      return end.stderr.includes('no namespace') ? undefined : end;
    });
    expect(refused).toMatchObject({ exitCode: 6, stdout: '' });
    for (const word of ['LonghaulStatus', 'LonghaulRequestId', 'longhaul doctor --setup']) {
      expect(refused?.stderr).toContain(word);
    }
    expect((await runLonghaul(['doctor', '--fix'], env)).stdout).toContain('registered now: LonghaulStatus');
    const started = await stack.startWorker(env);
    expect(started.output()).toContain('"msg":"worker started"');
  });
});
