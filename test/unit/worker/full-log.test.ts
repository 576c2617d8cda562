import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';

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
