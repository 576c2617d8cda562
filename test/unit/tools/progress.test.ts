import { createProgress, formatElapsed } from '../../../tools/progress';

const recorder = (isTTY: boolean) => {
  const written: string[] = [];
  return { isTTY, columns: 40, written, write: (text: string) => written.push(text) > 0 };
};

/** Work that ends when told to. */
const openWork = () => {
  let end = (): void => undefined;
  const work = new Promise<string>((resolve) => {
    end = () => {
      resolve('done');
    };
  });
  return { work, end };
};

describe('progress', () => {
  it('keeps one live line of at most the terminal’s width on a terminal, and leaves nothing of it behind', async () => {
    const stream = recorder(true);
    const { work, end } = openWork();
    let looks = 0;
    const phase = (): string => {
      looks += 1;
      if (looks === 3) end();
      return 'compiling a great many packages of all kinds';
    };
    expect(await createProgress(stream, { terminalMs: 1 }).during('Building', phase, work)).toBe('done');
    const lines = stream.written.filter((text) => text.startsWith('  Building'));
    expect(lines.length).toBeGreaterThanOrEqual(3);
    expect(new Set(lines)).toEqual(new Set(['  Building: compiling a great many pack']));
    expect(stream.written.join('')).not.toContain('\n');
    expect(stream.written.at(-1)).toBe('\r\x1b[2K');
  });

  it('writes plain lines when it is not a terminal', async () => {
    const stream = recorder(false);
    const { work, end } = openWork();
    const phase = (): string => {
      end();
      return 'compiling';
    };
    await createProgress(stream, { plainMs: 1 }).during('Building', phase, work);
    expect(stream.written[0]).toBe('  Building: compiling (0:00)\n');
    expect(stream.written.join('')).not.toContain('\x1b');
  });

  it('clears the live line before a line that stays, and shows nothing after the work has failed', async () => {
    const stream = recorder(true);
    createProgress(stream).say('Note');
    expect(stream.written.join('')).toBe('\r\x1b[2KNote\n');

    const plain = recorder(false);
    const failing = Promise.reject(new Error('no'));
    await expect(createProgress(plain, { plainMs: 1 }).during('Building', () => 'x', failing)).rejects.toThrow('no');
    expect(plain.written).toEqual([]);
  });

  it('formats elapsed time in minutes and seconds', () => {
    expect([0, 59_999, 60_000, 367_000].map(formatElapsed)).toEqual(['0:00', '0:59', '1:00', '6:07']);
  });
});
