import fc from 'fast-check';
import { isArchiveFolder, reservedFolderProblem } from '../../../src/contract/task-place';

describe('the folder that batches keep their records in', () => {
  it.each([
    'batches',
    'batches/nb',
    'batches/nb/results',
    'batches/nb/results/mine',
    'batches/nb/outputs',
    'batches/x/y',
  ])('is closed to a task of its own: %s', (folder) => {
    const problem = reservedFolderProblem(folder, null) ?? '';
    expect(problem).toContain(`archive is "${folder}", which is reserved`);
    expect(problem).toContain('give a folder outside "batches"');
  });

  it.each(['Batches/nb', 'BATCHES', 'batches./nb', 'batches /nb', 'ｂａｔｃｈｅｓ/nb', 'batcheſ/nb'])(
    'is closed in every spelling that a file system may take for it: %s',
    (folder) => {
      expect(reservedFolderProblem(folder, null)).toBeDefined();
      expect(reservedFolderProblem(folder, 'nb')).toBeDefined();
    },
  );

  it('is open to the rows of a batch where their outputs go, and nowhere else', () => {
    expect(reservedFolderProblem('batches/nb/outputs', 'nb')).toBeUndefined();
    expect(reservedFolderProblem('batches/nb/outputs/drafts', 'nb')).toBeUndefined();
    for (const folder of [
      'batches',
      'batches/nb',
      'batches/nb/results',
      'batches/nb/outputs2',
      'batches/other/outputs',
    ]) {
      expect(reservedFolderProblem(folder, 'nb')).toContain('"batches/nb/outputs"');
    }
  });

  it('is the only one that is closed', () => {
    expect(
      ['', 'campaign-7', 'my/batches', 'batches2', 'batche'].map((one) => reservedFolderProblem(one, null)),
    ).toEqual(Array.from({ length: 5 }, () => undefined));
  });

  it('is not reached by any other folder that a task may name', () => {
    const part = fc.stringMatching(/^[\p{L}\p{N} ._-]{1,12}$/u);
    const named = fc.mixedCase(fc.constant('batches'));
    fc.assert(
      fc.property(fc.oneof(part, named), fc.array(part, { maxLength: 2 }), (first, rest) => {
        const folder = [first, ...rest].join('/');
        fc.pre(isArchiveFolder(folder) && reservedFolderProblem(folder, null) === undefined);
        // As Windows, macOS and Linux compare names.
        const same = first
          .normalize('NFD')
          .toUpperCase()
          .replace(/[. ]+$/, '');
        expect(same).not.toBe('BATCHES');
      }),
    );
  });
});
