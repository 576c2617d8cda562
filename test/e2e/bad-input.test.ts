import { randomUUID } from 'node:crypto';
import { copyFileSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { msToTs } from '@temporalio/common/lib/time';
import { ProcessStack } from '../support/process-stack';
import { type CommandEnd, runLonghaul } from '../support/run-longhaul';
import { photoFolder } from '../support/task-stack';
import { eventually } from '../support/eventually';
import { freePorts } from '../../tools/free-port';

const wrongKey = `wrong-${randomUUID()}`;
const signature = 'c0ffee5ecret';

let stack: ProcessStack;
/** `host:port` where nobody listens. */
let nobody: string;

beforeAll(async () => {
  stack = await ProcessStack.open();
  const [port = 0] = await freePorts(1);
  nobody = `127.0.0.1:${port}`;
  copyFileSync(join(photoFolder, 'rocket.jpg'), join(stack.inputs, 'rocket.jpg'));
  writeFileSync(join(stack.inputs, 'empty.png'), '');
  writeFileSync(join(stack.inputs, '../secret.txt'), 'not for anyone');
  symlinkSync(join(stack.inputs, '../secret.txt'), join(stack.inputs, 'link.png'));
  mkdirSync(join(stack.inputs, 'album'));
  const accountsFile = join(stack.inputs, '../accounts.json');
  const accounts = { stranger: { apiKey: wrongKey }, away: { apiKey: 'key-of-away', serviceUrl: `http://${nobody}` } };
  writeFileSync(accountsFile, JSON.stringify(accounts));
  await stack.startWorker({ ...stack.env, LONGHAUL_ACCOUNTS_FILE: accountsFile });
});
afterAll(() => stack.close());

function run(...args: string[]): Promise<CommandEnd> {
  return stack.run('run', ...args, '--task-queue', stack.taskQueue);
}

function file(name: string): string {
  return `1:LoadImage.image=@${join(stack.inputs, name)}`;
}

/** Creates that the service carried out, by now. */
function paidCreates(): number {
  return stack.service.ledger.entries({ endpoint: 'create' }).filter(({ requestId }) => requestId !== undefined).length;
}

/** The command ended so, said all of this on standard error, and nothing was paid meanwhile. */
async function expectRefusal(command: Promise<CommandEnd>, exitCode: number, words: readonly string[]): Promise<void> {
  const before = paidCreates();
  const end = await command;
  expect({ exitCode: end.exitCode, missing: words.filter((word) => !end.stderr.includes(word)) }).toEqual({
    exitCode,
    missing: [],
  });
  expect(end.stdout).toBe('');
  expect(paidCreates()).toBe(before);
}

/** What `longhaul status` prints as soon as it has these words. */
async function statusThatSays(key: string, words: string): Promise<string | undefined> {
  return eventually(
    async () => {
      const { stdout } = await stack.run('status', key);
      return stdout.includes(words) ? stdout : undefined;
    },
    { what: `the status to say: ${words}`, withinMs: 60_000 },
  );
}

describe('an input file that cannot be used ends the task before anything is paid', () => {
  it.concurrent.each<[string, string, string[]]>([
    ['does not exist', 'missing.jpg', ['does not exist', 'check the path']],
    ['is a folder', 'album', ['is not a regular file', 'give the path of a file']],
    ['is empty', 'empty.png', ['is empty', 'give a file that has content']],
    ['is a link out of the allowed folders', 'link.png', ['is outside the folders', 'LONGHAUL_INPUT_ROOTS']],
    ['is outside the allowed folders', '../secret.txt', ['is outside the folders', 'LONGHAUL_INPUT_ROOTS']],
    ['is outside and does not exist', '../no-secret.txt', ['is outside the folders', 'LONGHAUL_INPUT_ROOTS']],
  ])('one that %s', async (_what, name, words) => {
    const value = join(stack.inputs, name);
    await expectRefusal(run('1', '-i', file(name)), 2, ['1:LoadImage.image', value, ...words]);
  });

  it.concurrent('one on a private host', async () => {
    const url = `https://${nobody}/cat.png`;
    const words = ['1:LoadImage.image', url, 'an address that is not public', 'LONGHAUL_INPUT_HOSTS'];
    await expectRefusal(run('1', '-i', `1:LoadImage.image=@${url}`), 2, words);
  });
});

describe('an input that is malformed is refused before a task is started', () => {
  it.concurrent.each<[string, string[], string[]]>([
    ['a malformed key', ['-i', 'ImageScale=5'], ['"ImageScale"', 'such as "1:LoadImage.image"']],
    ['no value', ['-i', '2:ImageScale.width'], ['"2:ImageScale.width" is not KEY=VALUE']],
    ['an app that is no number', ['photo-finish'], ['"photo-finish"', 'web_app_id']],
    ['a deadline that is none', ['--deadline-run', 'soon'], ['deadlines.run is "soon"', '"90 seconds"']],
    ['a key that is none', ['--key', 'order 17'], ['"order 17"', 'letters, digits']],
    [
      'an archive outside the archive',
      ['--archive', '../elsewhere'],
      ['"../elsewhere"', 'inside the worker’s archive'],
    ],
    ['an option that is none', ['--colour', 'red'], ['--colour']],
  ])('%s', async (_what, args, words) => {
    const app = args[0]?.startsWith('-') === false ? [] : ['1'];
    await expectRefusal(run(...app, ...args), 2, words);
  });

  it.concurrent('a signed link, whose signature is not repeated', async () => {
    const link = `https://pictures.example/cat.png?X-Amz-Signature=${signature}`;
    const command = run('1', '-i', `1:LoadImage.image=@${link}`);
    await expectRefusal(command, 2, ['1:LoadImage.image', '"X-Amz-Signature"', 's3: URI']);
    expect(JSON.stringify(await command)).not.toContain(signature);
  });

  it.concurrent('a value of a type that the service does not take, from a backend', async () => {
    const inputs = JSON.parse('{"2:ImageScale.width":{"pixels":512},"3:ImageBlur.sigma":true}') as Record<
      string,
      string
    >;
    await expect(stack.longhaul.start({ webAppId: 1, inputs })).rejects.toThrow(
      /inputs\["2:ImageScale\.width"\] is \{"pixels":512\}; the service takes text and finite numbers.*\n.*"3:ImageBlur\.sigma"\] is true/,
    );
  });

  it.concurrent('as one JSON object, too', async () => {
    const { exitCode, stdout } = await run('1', '-i', 'ImageScale=5', '--json');
    const problems = [expect.stringContaining('"ImageScale"') as string];
    expect(exitCode).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ error: { type: 'InputInvalidError', exitCode: 2, problems } });
  });
});

describe('what only the service can judge is told in its own words, and not paid', () => {
  it.concurrent.each<[string, string[], string[]]>([
    ['a value of the wrong type', ['1', '-i', '2:ImageScale.width=wide'], ['2:ImageScale.width', 'TaskRejected']],
    ['an unknown app', ['4711'], ['4711', 'TaskRejected']],
    ['an unknown node', ['1', '-i', '99:ImageScale.width=5'], ['99:ImageScale.width', 'no node 99']],
    ['an unknown parameter', ['1', '-i', '2:ImageScale.colour=red'], ['2:ImageScale.colour', 'it has: width, height']],
  ])('%s', async (_what, args, words) => {
    await expectRefusal(run(...args, '-i', file('rocket.jpg')), 3, words);
  });

  it.concurrent('a wrong API key, which is waited for', async () => {
    const command = run('1', '--account', 'stranger', '-i', file('rocket.jpg'), '--deadline-total', '5s');
    await expectRefusal(command, 3, ['DeadlineExceeded', 'account "stranger"', 'LONGHAUL_ACCOUNTS_FILE']);
    expect(JSON.stringify(await command)).not.toContain(wrongKey);
  });

  it.concurrent('a wrong API key that the create is the first to show', async () => {
    const command = run('5', '--account', 'stranger', '--deadline-total', '5s');
    await expectRefusal(command, 3, ['DeadlineExceeded', 'account "stranger"', 'LONGHAUL_ACCOUNTS_FILE']);
    expect(JSON.stringify(await command)).not.toContain(wrongKey);
  });

  it.concurrent('an unknown account', async () => {
    const words = ['AccountUnknown', '"nobody"', 'default, stranger, away', 'LONGHAUL_ACCOUNTS_FILE'];
    await expectRefusal(run('1', '--account', 'nobody', '-i', file('rocket.jpg')), 2, words);
  });
});

describe('a service that cannot be reached', () => {
  it.concurrent('is waited for, and the status says so', async () => {
    const key = randomUUID();
    const started = await run('5', '--account', 'away', '--key', key, '--detach');
    expect(started).toMatchObject({ exitCode: 0, stdout: `task:${key}\n` });
    const stdout = await statusThatSays(key, 'ECONNREFUSED');
    expect(stdout).toContain(nobody);
    expect(stdout).toContain('a create that was not sent costs nothing');
    expect(await stack.run('stop', key, '--wait')).toMatchObject({ exitCode: 4 });
  });

  it.concurrent('ends the task at its deadline, with what was wrong', async () => {
    const args = ['1', '--account', 'away', '-i', file('rocket.jpg'), '--deadline-total', '2s'];
    await expectRefusal(run(...args), 3, ['DeadlineExceeded', nobody]);
  });
});

describe('an archive that can no longer be written', () => {
  it('is waited for before anything is paid, and the task goes on when it is corrected', async () => {
    const key = randomUUID();
    const before = paidCreates();
    renameSync(stack.archive, `${stack.archive}-away`);
    writeFileSync(stack.archive, 'not a folder');
    await run('5', '--key', key, '--detach');
    const stdout = await statusThatSays(key, `the archive ${stack.archive}`);
    expect(stdout).toContain('a part of its path is a file; name a folder');
    expect(stdout).toContain('a create that was not sent costs nothing');
    expect(paidCreates()).toBe(before);

    rmSync(stack.archive);
    renameSync(`${stack.archive}-away`, stack.archive);
    expect(await stack.run('status', key, '--follow')).toMatchObject({ exitCode: 0 });
    expect(paidCreates()).toBe(before + 1);
  });
});

describe('the same key with another input', () => {
  it('is refused, and the task of that key is left alone', async () => {
    const key = randomUUID();
    expect(await run('5', '--key', key, '--json')).toMatchObject({ exitCode: 0 });
    const words = [`"${key}"`, `task:${key}`, 'another input', 'a key of its own'];
    await expectRefusal(run('5', '--key', key, '-i', '2:Wait.seconds=1'), 2, words);
    expect(await run('5', '--key', key, '--json')).toMatchObject({ exitCode: 0 });
  });
});

describe('a worker does not start', () => {
  const worker = (env: NodeJS.ProcessEnv): Promise<CommandEnd> => runLonghaul(['worker'], { ...stack.env, ...env });

  it.concurrent('when its configuration cannot be used, and every problem is told at once', async () => {
    const command = worker({ LONGHAUL_SERVICE_URL: 'ftp://service', LONGHAUL_API_KEY: '', LONGHAUL_LOG_LEVEL: 'loud' });
    const words = ['LONGHAUL_SERVICE_URL', 'ftp://service', 'LONGHAUL_API_KEY', 'LONGHAUL_LOG_LEVEL', 'trace, debug'];
    await expectRefusal(command, 2, words);
  });

  it.concurrent('when the archive cannot be written', async () => {
    const archive = join(stack.inputs, 'rocket.jpg');
    await expectRefusal(worker({ LONGHAUL_ARCHIVE: archive }), 2, ['LONGHAUL_ARCHIVE', archive, 'name a folder']);
  });

  it.concurrent('when Temporal cannot be reached', async () => {
    await expectRefusal(worker({ TEMPORAL_ADDRESS: nobody }), 6, [nobody, 'TEMPORAL_ADDRESS']);
  });

  it.concurrent('when the namespace is not there', async () => {
    await expectRefusal(worker({ TEMPORAL_NAMESPACE: 'nowhere' }), 6, ['"nowhere"', 'TEMPORAL_NAMESPACE']);
  });

  it.concurrent('when search attributes are missing, until they are registered as it says', async () => {
    const namespace = `bare-${randomUUID()}`;
    const env = { ...stack.env, TEMPORAL_NAMESPACE: namespace, LONGHAUL_ARCHIVE: join(stack.archive, namespace) };
    await stack.client.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: msToTs('1 day'),
    });
    // A namespace that was just registered is not known at once.
    const refused = await eventually(async () => {
      const end = await worker(env);
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

describe('a command without Temporal', () => {
  it.concurrent('says where it looked', async () => {
    const command = runLonghaul(['run', '5'], { ...stack.env, TEMPORAL_ADDRESS: nobody });
    await expectRefusal(command, 6, [nobody, 'TEMPORAL_ADDRESS']);
  });

  it.concurrent('ends, also where it has loaded Temporal’s native part', async () => {
    const command = runLonghaul(['replay'], { ...stack.env, TEMPORAL_ADDRESS: nobody });
    await expectRefusal(command, 6, [nobody, 'TEMPORAL_ADDRESS']);
  });
});
