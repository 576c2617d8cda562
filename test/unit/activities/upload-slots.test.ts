import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { UploadSlots } from '../../../src/activities/upload-slots';

/** An upload that runs until it is let go. */
function held(): { readonly upload: () => Promise<void>; readonly end: (error?: Error) => void } {
  let end: (error?: Error) => void = () => undefined;
  const ended = new Promise<void>((resolve, reject) => {
    end = (error) => {
      if (error === undefined) resolve();
      else reject(error);
    };
  });
  return { upload: () => ended, end };
}

describe('the uploads of one account in a worker', () => {
  it('are as many as its share; one more is told to come again, and those of others are not', async () => {
    const shares = new UploadSlots(2);
    const [first, second] = [held(), held()];
    const running = [shares.run('slow', first.upload), shares.run('slow', second.upload)];
    const error: unknown = await shares.run('slow', () => Promise.resolve()).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApplicationFailure);
    expect(error).toMatchObject({ nonRetryable: false, category: ApplicationFailureCategory.BENIGN });
    expect(String(error)).toContain('2 uploads of the account "slow"');
    expect(await shares.run('other', () => Promise.resolve('done'))).toBe('done');

    first.end(new Error('failed'));
    await expect(running[0]).rejects.toThrow('failed');
    expect(await shares.run('slow', () => Promise.resolve('done'))).toBe('done');
    second.end();
    await running[1];
  });

  it('ask again the later, the more of them there are', async () => {
    const shares = new UploadSlots(1);
    const one = held();
    const running = shares.run('slow', one.upload);
    const delays: number[] = [];
    for (let count = 0; count < 200; count += 1) {
      const error: unknown = await shares.run('slow', () => Promise.resolve()).catch((thrown: unknown) => thrown);
      delays.push(Number((error as ApplicationFailure).nextRetryDelay));
    }
    expect(Math.max(...delays.slice(0, 10))).toBeLessThanOrEqual(2_500);
    expect(Math.min(...delays.slice(-10))).toBeGreaterThanOrEqual(20_000);
    expect(Math.max(...delays)).toBeLessThanOrEqual(37_500);
    one.end();
    await running;
  });
});
