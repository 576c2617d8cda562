import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { Secret } from '../../../src/config/secret';
import { createLogger } from '../../../src/worker/logger';
import { temporalLogger } from '../../../src/worker/temporal-runtime';

class Lines {
  readonly lines: string[] = [];

  write(line: string): void {
    this.lines.push(line);
  }

  get text(): string {
    return this.lines.join('');
  }

  get last(): Record<string, unknown> {
    return JSON.parse(this.lines.at(-1) ?? '') as Record<string, unknown>;
  }
}

/** A secret is known from the moment it is made. */
const secrets = [new Secret('key-0815'), new Secret('quo"te\\slash')];

function openLog(): { lines: Lines; logger: ReturnType<typeof createLogger> } {
  const lines = new Lines();
  return { lines, logger: createLogger({ level: 'info', destination: lines }) };
}

describe('the log', () => {
  it('is one JSON object a line, with the level as a word and the time as ISO-8601', () => {
    const { lines, logger } = openLog();

    logger.info({ workflowId: 'task:a', requestId: 'r-1' }, 'state');

    expect(lines.lines).toHaveLength(1);
    expect(lines.last).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/) as string,
      workflowId: 'task:a',
      requestId: 'r-1',
      msg: 'state',
    });
  });

  it('leaves out what is below its level', () => {
    const { lines, logger } = openLog();

    logger.debug('detail');

    expect(lines.lines).toEqual([]);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['a key in the message', {}, 'refused key-0815'],
    ['a key in a field', { deep: { er: ['key-0815'] } }, 'x'],
    ['a key that JSON writes differently', { value: 'a quo"te\\slash b' }, 'quo"te\\slash'],
    ['a secret itself', { secrets }, 'x'],
    ['a bearer token', {}, 'sent Authorization: Bearer abc.def-ghi'],
    ['an authorization header', { headers: { Authorization: 'Basic YWJj.def-ghi' } }, 'x'],
    ['an authorization header of several values', { headers: { authorization: ['abc.def-ghi'] } }, 'x'],
    ['the callback’s authorization', { 'X-Svc-Task-Authorization': 'abc.def-ghi' }, 'x'],
    ['temporary credentials', { access_key_secret: 'abc.def-ghi', security_token: 'key-0815' }, 'x'],
    ['a body as text', {}, JSON.stringify({ data: { security_token: 'abc.def-ghi' } })],
    ['a body as text in text', {}, JSON.stringify(JSON.stringify({ apiKey: 'abc.def-ghi' }))],
    ['a signed link', { url: 'https://storage.example/o/1.png?X-Amz-Signature=abc.def-ghi' }, 'x'],
    ['a link signed in another way', {}, 'GET http://storage.example/o/1.png?e=1&s=abc.def-ghi failed'],
    ['a signed path', {}, 'GET /o/1.png?expires=1&Signature=abc.def-ghi failed'],
    ['a password in a link', {}, 'https://user:abc.def-ghi@storage.example/'],
  ])('does not show %s', (_, fields, message) => {
    const { lines, logger } = openLog();

    logger.warn({ ...fields, err: new Error(message) }, message);

    expect(lines.text).not.toMatch(/key-0815|abc\.def-ghi|quo\W+te/);
    expect(lines.last['level']).toBe('warn');
  });

  it('keeps what is no secret', () => {
    const { lines, logger } = openLog();

    logger.info({ url: 'https://storage.example/o/1.png', bytes: 12, tokens: 3 }, 'Fetched "1.png" in 3 s');

    expect(lines.last).toMatchObject({
      url: 'https://storage.example/o/1.png',
      bytes: 12,
      tokens: 3,
      msg: 'Fetched "1.png" in 3 s',
    });
  });
});

describe('Temporal’s log', () => {
  it('becomes lines of ours, with what the SDK knows as fields', () => {
    const { lines, logger } = openLog();

    temporalLogger(logger).warn('Activity failed', {
      workflowId: 'task:a',
      runId: 'run-1',
      activityType: 'pollTask',
      attempt: 2,
      timestampNanos: 1n,
      eventId: 7n,
      error: new Error('no answer'),
    });

    expect(lines.last).toMatchObject({
      level: 'warn',
      msg: 'Activity failed',
      workflowId: 'task:a',
      runId: 'run-1',
      activityType: 'pollTask',
      attempt: 2,
      eventId: '7',
      err: { type: 'Error', message: 'no answer' },
    });
    expect(lines.last).not.toHaveProperty('timestampNanos');
  });

  it('has no warning of a healthy start: queues of activities have no workflows', () => {
    const lines = new Lines();
    const log = temporalLogger(createLogger({ level: 'debug', destination: lines }));

    log.warn('No workflows registered, not polling for workflow tasks', { taskQueue: 'longhaul-archive' });

    expect(lines.last).toMatchObject({ level: 'debug', taskQueue: 'longhaul-archive' });
  });

  it.each(['trace', 'debug', 'info', 'warn', 'error'] as const)('keeps the level %s', (level) => {
    const lines = new Lines();
    const log = temporalLogger(createLogger({ level: 'trace', destination: lines }));

    log[level]('x');

    expect(lines.last['level']).toBe(level);
  });
});

describe('the log on standard output', () => {
  /** A process that logs 40 MB, and says on its standard error that it still does other things. */
  const program = `
    const { createLogger } = require(${JSON.stringify(join(__dirname, '../../../src/worker/logger.ts'))});
    const logger = createLogger({ level: 'info' });
    let left = 40;
    const timer = setInterval(() => {
      for (let line = 0; line < 1000; line += 1) logger.info({ text: 'x'.repeat(1000) }, 'line');
      left -= 1;
      if (left > 0) return;
      clearInterval(timer);
      process.stderr.write('alive');
    });`;

  it.each([
    ['a full disk', () => openSync('/dev/full', 'w')],
    ['a reader that stands still', () => 'pipe' as const],
  ])('neither ends nor holds up its process: %s', async (_what, output) => {
    const args = ['--import', require.resolve('tsx'), '-e', program];
    const child = spawn(process.execPath, args, { stdio: ['ignore', output(), 'pipe'] });
    const [said] = (await once(child.stderr ?? child, 'data')) as [Buffer];
    expect(said.toString()).toBe('alive');
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
});

/** Runs a program of its own that logs to this file, with so many milliseconds before it is done. */
function log(file: string, forMs: number) {
  const output = openSync(file, 'w');
  const program = `
    const { createLogger } = require('./src/worker/logger.ts');
    const logger = createLogger({ level: 'info' });
    const lines = setInterval(() => logger.info('a line'), 10);
    setTimeout(() => {
      clearInterval(lines);
      logger.info('the last line');
      process.exitCode = 7;
    }, ${forMs});
  `;
  const ended = spawnSync(process.execPath, ['--import', 'tsx', '-e', program], {
    cwd: join(__dirname, '../../..'),
    stdio: ['ignore', output, 'pipe'],
    encoding: 'utf8',
    timeout: 30_000,
    killSignal: 'SIGKILL',
  });
  closeSync(output);
  return { code: ended.status, signal: ended.signal, stderr: ended.stderr };
}

describe('a log on a disk without room', () => {
  it.each([0, 200])(
    'does not keep a process that is done after %d ms from its end, nor change how it ends',
    (forMs) => {
      expect(log('/dev/full', forMs)).toEqual({ code: 7, signal: null, stderr: '' });
    },
  );
});
