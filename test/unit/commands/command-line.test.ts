import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { runCommandLine } from '../../../src/commands/program';
import { FakeContext } from '../../support/fake-context';

const names =
  'run adopt batch status list download costs budget cancel interrupt stop resolve rearchive open retry retry-now reconcile sweep worker receiver codec-server doctor replay completion help'.split(
    ' ',
  );
const batchNames = 'run status pause resume drain retry set-concurrency stop report results list'.split(' ');

async function run(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<FakeContext> {
  const context = new FakeContext(env);
  await runCommandLine(args, context);
  return context;
}

describe('the help', () => {
  it('lists every command and every exit code', async () => {
    const { stdout, exitCode } = await run(['--help']);

    expect(names.filter((name) => !new RegExp(`^ {2}${name} `, 'm').test(stdout.text))).toEqual([]);
    expect(stdout.text).toMatch(/Exit codes:\n {2}0 {4}done/);
    expect(exitCode).toBe(0);
  });

  it.each([...names, ...batchNames.map((name) => `batch ${name}`)])(
    'of %s has an example that the command understands, in 80 columns',
    async (name) => {
      const { stdout } = await run([...name.split(' '), '--help']);

      const example = /\$ ((?:.*\\\n)*.*)/.exec(stdout.text)?.[1] ?? '';
      expect(example).toContain(`longhaul ${name}`);
      const flags = [...example.matchAll(/(?<= )--?[a-z-]+/g)].map(([flag]) => flag);
      expect(flags.filter((flag) => !stdout.text.replace(example, '').includes(flag))).toEqual([]);
      expect(stdout.text.split('\n').filter((line) => line.length > 80)).toEqual([]);
    },
  );
});

describe('the command "help"', () => {
  it.each([[['run']], [['batch']], [['batch', 'run']]])('shows the help of %j', async (names) => {
    const [asked, known] = [await run(['help', ...names]), await run([...names, '--help'])];

    expect(asked.stdout.text).toBe(known.stdout.text);
    expect(asked.exitCode).toBe(0);
  });

  it('knows no command that is none', async () => {
    const { stderr, exitCode } = await run(['help', 'batch', 'rnu']);

    expect(stderr.text).toContain("unknown command 'rnu'");
    expect(exitCode).toBe(2);
  });
});

describe('a wrong command line', () => {
  it.each<[string, readonly string[], RegExp]>([
    ['an unknown command', ['rnu', '7'], /unknown command 'rnu'[^]*Did you mean run/],
    ['no app', ['run'], /missing required argument 'app'/],
    ['an app that is no number', ['run', 'scale'], /The app is "scale"; give its web_app_id/],
    ['a malformed input key', ['run', '7', '-i', 'width=1'], /The input key "width" is not/],
    ['a key that is none', ['status', 'a b'], /The key or workflow id is "a b"; give/],
    ['a key that is none and begins with -', ['status', '-a b', '--follow'], /The key or workflow id is "-a b"; give/],
    ['no amount for a batch whose id begins with -', ['batch', 'set-budget', '-x', 'much'], /"much"/],
    [
      'a list with several wrong options, all of which are named',
      [
        ...['list', '--limit', '0', '--since', 'lately', '--until', 'soon'],
        ...['--status', 'Runing', '--tag', 'a b', '--app', 'x'],
      ],
      /--limit is "0"[^]*--since is "lately"[^]*--until is "soon"[^]*status is "Runing"[^]*app is "x"[^]*tags\[0\] is "a b"/,
    ],
    ['no decision', ['resolve', 'a'], /give one of --adopt REQUEST_ID, --recreate, --abandon/],
    ['a request id that is none', ['adopt', 'a b'], /The request id is "a b"; give/],
    ['a folder outside of the archive', ['adopt', 'r-1', '--archive', '../x'], /archive is "..\/x"; give a folder/],
    [
      'a list that is not there',
      ['reconcile', '--from', 'no-such.txt'],
      /--from is "no-such.txt".*ENOENT.*give a readable/,
    ],
    [
      'an answer without a create',
      ['reconcile', '--settle', 'order-17=r'],
      /--settle is "order-17=r"; give WORKFLOW_ID/,
    ],
    ['no worker’s environment', ['reconcile'], /LONGHAUL_SERVICE_URL is not set/],
    ['two decisions', ['resolve', 'a', '--adopt', 'r', '--abandon'], /cannot be used with option/],
    ['a batch’s id that is none', ['batch', 'pause', 'a b'], /The batch id "a b" cannot be one/],
    ['both ways to wait', ['stop', 'a', '--detach', '--wait'], /'--detach' cannot be used with option '--wait'/],
    // Both are commands that end at once; what is wrong is the id.
    ['a batch’s id that is none, and --detach', ['batch', 'retry', 'a b', '--detach'], /The batch id "a b" cannot be/],
    ['an unknown option', ['status', 'a', '--colour'], /unknown option '--colour'/],
  ])('with %s ends with 2 and says what is wrong', async (_, args, message) => {
    const { stdout, stderr, exitCode } = await run(args, { TEMPORAL_ADDRESS: '127.0.0.1:1' });

    expect(exitCode).toBe(2);
    expect(stderr.text).toMatch(message);
    expect(stdout.text).toBe('');
  });

  it('shows control characters of its arguments instead of acting on them', async () => {
    const evil = '\u001b]8;;http://evil.example\u0007\u009b2J\u202e';
    const { stderr } = await run([evil]);
    const { stderr: ofValue, stdout } = await run(['run', evil, '--json']);

    for (const text of [stderr.text, ofValue.text, stdout.text]) {
      expect(text).toContain(String.raw`\u001b]8;;http://evil.example`);
      expect(text).not.toMatch(/[^\P{Cc}\n]|\p{Bidi_Control}/u);
    }
  });

  it('is one JSON object on standard output where JSON was asked for', async () => {
    const { stdout, exitCode } = await run(['run', 'scale', '--json']);

    expect(JSON.parse(stdout.text)).toMatchObject({
      error: { type: 'InputInvalidError', problems: [expect.stringContaining('"scale"')], exitCode: 2 },
    });
    expect(exitCode).toBe(2);
  });
});

describe('files that a command makes', () => {
  it.each([
    [{}, 0o077],
    [{ LONGHAUL_UMASK: '027' }, 0o027],
    [{ LONGHAUL_UMASK: 'x' }, 0o077],
  ])('are for the own user only unless the environment says otherwise: %j', async (env, umask) => {
    expect((await run(['list', '--limit', 'many'], env)).umask).toBe(umask);
  });
});

describe('a process with a configuration that cannot be used', () => {
  it.each<[string, NodeJS.ProcessEnv, RegExp]>([
    [
      'worker',
      { LONGHAUL_ARCHIV: '/srv' },
      /LONGHAUL_SERVICE_URL is not set[^]*LONGHAUL_ARCHIV is ignored; did you mean/,
    ],
    [
      'receiver',
      { LONGHAUL_CALLBACK_PORT: 'x' },
      /LONGHAUL_CALLBACK_PORT is "x"[^]*LONGHAUL_CALLBACK_TOKEN is not set/,
    ],
  ])('is not started: %s', async (name, env, words) => {
    const { stderr, exitCode } = await run([name], env);

    expect(exitCode).toBe(2);
    expect(stderr.text).toMatch(words);
  });
});

describe('what the command line loads', () => {
  /** The files of libraries that a command line has loaded when it ends. */
  function loadedBy(...args: string[]): string[] {
    const script = `process.argv = ${JSON.stringify(['', '', ...args])}; require('./src/cli.ts');
      process.on('exit', () => process.stderr.write(JSON.stringify(Object.keys(require.cache))));`;
    const { stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', '-e', script], {
      cwd: path.join(__dirname, '../../..'),
      encoding: 'utf8',
    });
    expect(stdout).toMatch(/^(Usage: longhaul|\d)/);
    return (JSON.parse(stderr) as string[]).filter((file) => file.includes('node_modules'));
  }

  it('is neither the AWS SDK nor Temporal’s native worker', () => {
    const files = loadedBy('list', '--help');
    expect(files.filter((file) => file.includes('@temporalio/client')).length).toBeGreaterThan(0);
    expect(files.filter((file) => /@aws-sdk|@smithy|core-bridge|@temporalio\/worker|undici/.test(file))).toEqual([]);
  });

  it.each(['run', 'status', 'stop', 'resolve', 'open'])('is no client of Temporal for the help of %s', (command) => {
    expect(loadedBy(command, '--help').filter((file) => /@temporalio\/(?:client|proto)\/|grpc/.test(file))).toEqual([]);
  });

  it('is the parser of command lines alone for the list of commands', () => {
    const libraries = loadedBy('--help').map((file) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1]);
    expect(
      [...new Set(libraries)].filter((name) => !/^(commander|tsx|esbuild|get-tsconfig)$/.test(name ?? '')),
    ).toEqual([]);
  });
});

describe('an input of longhaul run that is text and looks like a file or a number', () => {
  it('is noted, with how it would be uploaded, and sent as it is', async () => {
    const inputs = [
      '1:LoadImage.image=photo.jpg',
      '2:LoadImage.image=@/none/cat.jpg',
      '3:Text.text=a.b',
      '5:Blur.sigma=0,5',
    ];
    const options = inputs.flatMap((input) => ['-i', input]);
    const env = { TEMPORAL_ADDRESS: '127.0.0.1:1' };
    const { exitCode, stderr } = await run(['run', '7', ...options, '-s', '4:Text.text=photo.jpg'], env);

    expect(exitCode).toBe(6);
    expect(stderr.text.match(/^note: .*/gm)).toEqual([
      'note: "1:LoadImage.image" is sent as text that looks like a file; -i 1:LoadImage.image=@photo.jpg would upload it',
      'note: "5:Blur.sigma" is sent as text that looks like a number; write a number as 0.5, 1024 or -5',
    ]);
  });
});

describe('the completion of commands', () => {
  it('knows subcommands, options and their values in a real bash, and leaves files to it', async () => {
    const { stdout, exitCode } = await run(['completion', 'bash']);
    expect(exitCode).toBe(0);
    const complete = (...words: string[]): string[] => {
      const script = `${stdout.text}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _longhaul; echo "\${COMPREPLY[@]}"`;
      return spawnSync('bash', ['-c', script], { encoding: 'utf8' }).stdout.trim().split(' ');
    };

    expect(complete('longhaul', 're')).toEqual([
      'resolve',
      'rearchive',
      'retry',
      'retry-now',
      'reconcile',
      'receiver',
      'replay',
    ]);
    expect(complete('longhaul', 'batch', 'r')).toEqual(['run', 'resume', 'retry', 'report', 'results']);
    expect(complete('longhaul', 'batch', 'run', 'rows.csv', '--dry')).toEqual(['--dry-run']);
    expect(complete('longhaul', 'run', 'batch', '--ke')).toEqual(['--key']);
    expect(complete('longhaul', 'run', '--key', 'run', 'ph')).toEqual(['']);
    expect(complete('longhaul', 'completion', '')).toEqual(['bash', 'zsh', 'fish']);
    expect(complete('longhaul', 'batch', 'run', '--watch', '')).toEqual(['timer', 'activity']);
    expect(complete('longhaul', 'batch', 'run', '--template', '')).toEqual(['']);
    expect(complete('longhaul', 'help', 'comp')).toEqual(['completion']);
  });

  it('is there for zsh and fish, and for no other shell', async () => {
    expect((await run(['completion', 'zsh'])).stdout.text).toMatch(/^autoload -U \+X bashcompinit/);
    expect((await run(['completion', 'fish'])).stdout.text).toContain(
      "complete -c longhaul -n '__fish_seen_subcommand_from batch; and __fish_seen_subcommand_from run' -l dry-run",
    );
    expect((await run(['completion', 'sh'])).exitCode).toBe(2);
  });
});

describe('the command "open"', () => {
  const env = { LONGHAUL_WEB_UI_URL: 'http://localhost:8233/', TEMPORAL_ADDRESS: '127.0.0.1:1' };

  it('prints the page of a task, of a batch, or the list, also where Temporal cannot say whether it exists', async () => {
    const printed = async (...args: string[]): Promise<string> => (await run(['open', ...args], env)).stdout.text;
    expect(await printed('order-17')).toBe('http://localhost:8233/namespaces/default/workflows/task%3Aorder-17\n');
    expect(await printed('batch:b')).toBe('http://localhost:8233/namespaces/default/workflows/batch%3Ab\n');
    expect(await printed()).toBe('http://localhost:8233/namespaces/default/workflows\n');
  });

  it('names the variable where the address of the Web UI is not known', async () => {
    const { exitCode, stderr } = await run(['open']);
    expect([exitCode, stderr.text]).toEqual([2, expect.stringContaining('LONGHAUL_WEB_UI_URL is not set')]);
  });
});
