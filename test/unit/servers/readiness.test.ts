import { createLogger } from '../../../src/worker/logger';
import { Readiness } from '../../../src/servers/health';
import { eventually } from '../../support/eventually';

const log: string[] = [];
const logger = createLogger({ level: 'info', destination: { write: (line) => void log.push(line) } });
const fast = { logger, retryMs: 5, timeoutMs: 30 };

let readiness: Readiness | undefined;
beforeEach(() => {
  log.length = 0;
});
afterEach(() => readiness?.stop());

const messages = (): string[] => log.map((line) => (JSON.parse(line) as { msg: string }).msg);

describe('the readiness of a process', () => {
  it('is false before the first check, and then what the last one said, with one line for each change', async () => {
    let isBroken = false;
    const check = async (): Promise<void> => {
      await Promise.resolve();
      if (isBroken) throw new Error('the disk is away');
    };
    readiness = new Readiness({ disk: { check, everyMs: 5 } }, fast);
    expect(readiness.parts).toEqual({ disk: false });
    await eventually(() => readiness?.parts['disk'] === true);
    isBroken = true;
    await eventually(() => readiness?.parts['disk'] === false);
    isBroken = false;
    await eventually(() => readiness?.parts['disk'] === true);

    expect(messages()).toEqual(['not ready', 'ready again']);
    expect(log[0]).toContain('the disk is away');
  });

  it('turns false when a check hangs, which is not repeated meanwhile, and true when it comes back', async () => {
    let checks = 0;
    let release: () => void = () => undefined;
    const check = async (): Promise<void> => {
      checks += 1;
      if (checks === 2) await new Promise<void>((resolve) => (release = resolve));
    };
    readiness = new Readiness({ share: { check, everyMs: 5 } }, fast);
    await eventually(() => checks === 2 && readiness?.parts['share'] === false);
    expect(log[0]).toContain('no answer within 30 ms');
    expect(checks).toBe(2);
    release();
    await eventually(() => readiness?.parts['share'] === true);
  });

  it('of one part does not wait for another one', async () => {
    const never = { check: () => new Promise<void>(() => undefined), everyMs: 5 };
    readiness = new Readiness({ never, fine: { check: () => Promise.resolve(), everyMs: 5 } }, fast);
    await eventually(() => readiness?.parts['fine'] === true);
    expect(readiness.parts).toEqual({ never: false, fine: true });
  });
});
