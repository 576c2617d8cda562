import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
  it.each([3, -3])('by %i hours uploads, creates once and archives', async (hours) => {
    const worker = await stack.startWorker({ ...stack.env, NODE_OPTIONS: clockMovedBy(hours * hourMs) });
    const loggedAt = /"time":"([^"]+)"/.exec(worker.output())?.[1] ?? '';
    expect(Math.round((Date.parse(loggedAt) - Date.now()) / hourMs)).toBe(hours);

    const inputs = { '1:LoadFile.file': { file: join(stack.inputs, 'film.mp4') } };
    const task = await stack.longhaul.start({
      key: randomUUID(),
      webAppId: courier,
      inputs,
      tuning: { retryMaxMs: 500 },
    });
    const { status, outputs, requestId } = await task.result();
    expect(status).toBe('Success');
    expect(outputs[0]?.sha256).toBe(createHash('sha256').update(content).digest('hex'));
    expect(stack.service.ledger.entries({ endpoint: 'create', requestId: requestId ?? '' })).toHaveLength(1);
    // The clock is corrected within the first attempt, which nobody sees.
    expect(readFileSync(stack.logFiles.at(-1) ?? '', 'utf8')).not.toContain('RequestTimeTooSkewed');
    await worker.stop();
  });
});
