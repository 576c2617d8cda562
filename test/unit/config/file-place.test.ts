import { ConfigError, type FilePlace, openArchive, openStaging } from '../../../src/files';

const open = { openStaging, openArchive };

/** The message of the `ConfigError` that a place is refused with. */
function refusalOf(name: keyof typeof open, place: unknown): string {
  try {
    open[name](place as FilePlace);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return '';
}

describe('a place of files that a program gives', () => {
  it.each<[keyof typeof open, unknown, string]>([
    ['openStaging', 's3://x', 'The options are "s3://x"; give an object with one or more of place, isPathStyle, env.'],
    ['openStaging', null, 'The options are null; give an object with one or more of place, isPathStyle, env.'],
    ['openStaging', { place: '/x' }, 'place is "/x"; give "s3://bucket/prefix".'],
    ['openStaging', { place: '' }, 'place is ""; give a text.'],
    ['openArchive', { place: 's3://Photos' }, 'place is "s3://Photos"; give the path of a folder, or "s3://bucket'],
    ['openArchive', { place: '/srv', isPathStyle: 'yes' }, 'isPathStyle is "yes"; give true or false.'],
    [
      'openArchive',
      { plaec: '/srv' },
      'Unknown option "plaec"; did you mean place? Known are place, isPathStyle, env.',
    ],
    ['openStaging', { env: { LONGHAUL_STAGING: '/x' } }, 'LONGHAUL_STAGING is "/x"; give "s3://bucket/prefix".'],
    ['openArchive', { env: {} }, 'LONGHAUL_ARCHIVE is not set; give the path of a folder'],
  ])('is refused in the words of the program: %s(%p)', (name, place, words) => {
    const problems = refusalOf(name, place)
      .split('\n')
      .filter((line) => !line.endsWith(':'));
    expect(problems).toEqual([expect.stringContaining(words)]);
  });
});
