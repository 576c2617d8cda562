import { namespaceFinding } from '../../../src/client/diagnose';

const dayMs = 24 * 3_600_000;

describe('what the doctor says of a namespace', () => {
  it('is advice to keep ended tasks for 30 days, and no failure, where it keeps them for less than 7', () => {
    expect(namespaceFinding('photos', 3 * dayMs)).toMatchObject({
      isOk: true,
      remedy: expect.stringContaining('namespace update --namespace photos --retention 30d') as string,
    });
  });

  it('is the retention alone where it keeps them for 7 days or longer', () => {
    expect(namespaceFinding('photos', 7 * dayMs)).toMatchObject({ isOk: true, remedy: null });
  });
});
