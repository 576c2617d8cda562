import { setImmediate as nextTurn } from 'node:timers/promises';
import { stageInputs } from '../../../src/rows';

describe('files of which one cannot be staged', () => {
  it('are not staged any further', async () => {
    const begun: string[] = [];
    const keepInput = async (path: string): Promise<string> => {
      begun.push(path);
      await nextTurn();
      if (path === '/0') throw new Error('the bucket is full');
      return `s3://bucket/${path}`;
    };
    const tasks = Array.from({ length: 100 }, (_, index) => ({ '1:A.b': { file: `/${index}` } }));

    await expect(stageInputs({ keepInput }, tasks)).rejects.toThrow('the bucket is full');
    const begunThen = begun.length;
    for (let turn = 0; turn < 100; turn += 1) await nextTurn();

    expect(begun).toHaveLength(begunThen);
    expect(begunThen).toBeLessThan(20);
  });
});
