import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Longhaul } from '../../src/client/longhaul';
import { eventually } from '../support/eventually';
import { ProcessStack } from '../support/process-stack';

/** The reference service's app that hands a file back. */
const courier = 11;
const hourMs = 3_600_000;
const content = randomBytes(1024);

let stack: ProcessStack;
beforeAll(async () => {
  stack = await ProcessStack.open();
  writeFileSync(join(stack.inputs, 'film.mp4'), content);
});
afterAll(() => stack.close());

/** Moves the clock of everything that is JavaScript in a process. */
function clockMovedBy(offsetMs: number): string {
  const program = `
    const real = Date;
    globalThis.Date = class Date extends real {
      constructor(...given) { given.length === 0 ? super(real.now() + ${offsetMs}) : super(...given); }
      static now() { return real.now() + ${offsetMs}; }
    };`;
  return `--import=data:text/javascript,${encodeURIComponent(program)}`;
}

describe('a worker whose clock is wrong', () => {
  it.each([3, -3])('by %i hours uploads, creates once, archives, and shares the limits of accounts', async (hours) => {
    const taskQueue = `test-${randomUUID()}`;
    const env = { ...stack.env, NODE_OPTIONS: clockMovedBy(hours * hourMs) };
    const worker = await stack.startWorker(env, taskQueue);
    const longhaul = new Longhaul({ client: stack.client, taskQueue });
    const loggedAt = /"time":"([^"]+)"/.exec(worker.output())?.[1] ?? '';
    expect(Math.round((Date.parse(loggedAt) - Date.now()) / hourMs)).toBe(hours);

    const inputs = { '1:LoadFile.file': { file: join(stack.inputs, 'film.mp4') } };
    // Polled before it has ended, with deadlines that have passed by the worker's clock, or have not begun.
    const tuning = { retryMaxMs: 500, poll: { minMs: 10, maxMs: 30 } };
    const deadlines = { queue: '1 hour', run: '1 hour', total: '1 hour' } as const;
    for (const watch of ['timer', 'activity'] as const) {
      const task = await longhaul.start({
        key: randomUUID(),
        ...{ webAppId: courier, inputs, watch, tuning, deadlines },
      });
      const { status, outputs, requestId } = await task.result();
      expect(status).toBe('Success');
      expect(outputs[0]?.sha256).toBe(createHash('sha256').update(content).digest('hex'));
      expect(stack.service.ledger.entries({ endpoint: 'create', requestId: requestId ?? '' })).toHaveLength(1);
    }
    // The clock is corrected within the first attempt, which nobody sees.
    expect(readFileSync(stack.logFiles.at(-1) ?? '', 'utf8')).not.toContain('RequestTimeTooSkewed');
    const other = await stack.startWorker(stack.env, taskQueue);
    const isShared = () => worker.output().includes('"workers":2');
    await eventually(isShared, { withinMs: 60_000, what: 'the limits to be shared with the other worker' });
    await Promise.all([worker.stop(), other.stop()]);
  });
});
