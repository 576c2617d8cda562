import { UploadHeldBackError, UploadSlots } from '../../../src/service/account-gate';

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
  it('are as many as its share; one more is held back until one has ended', async () => {
    const uploads = new UploadSlots(2);
    const [first, second] = [held(), held()];
    const running = [uploads.run(first.upload), uploads.run(second.upload)];
    await expect(uploads.run(() => Promise.resolve())).rejects.toThrow(UploadHeldBackError);

    first.end(new Error('failed'));
    await expect(running[0]).rejects.toThrow('failed');
    expect(await uploads.run(() => Promise.resolve('done'))).toBe('done');
    second.end();
    await running[1];
  });

  it('ask again the later, the more of them there are', async () => {
    const uploads = new UploadSlots(1);
    const one = held();
    const running = uploads.run(one.upload);
    const delays: number[] = [];
    for (let count = 0; count < 200; count += 1) {
      const error: unknown = await uploads.run(() => Promise.resolve()).catch((thrown: unknown) => thrown);
      delays.push((error as UploadHeldBackError).retryInMs);
    }
    expect(Math.max(...delays.slice(0, 10))).toBeLessThanOrEqual(2_500);
    expect(Math.min(...delays.slice(-10))).toBeGreaterThanOrEqual(20_000);
    expect(Math.max(...delays)).toBeLessThanOrEqual(37_500);
    one.end();
    await running;
  });
});
