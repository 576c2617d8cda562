import { ApplicationFailure } from '@temporalio/common';
import { requireAllowed, requireAllowedAccount } from '../../../src/activities/accounts';

const everything = { accounts: null, tuning: true, recreate: true };

function refusal(check: () => void): unknown {
  try {
    check();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('what a task’s input may choose', () => {
  it('is everything where the operator says nothing', () => {
    expect(
      refusal(() => {
        requireAllowedAccount(everything, 'studio');
      }),
    ).toBeUndefined();
    expect(
      refusal(() => {
        requireAllowed(everything, { tuning: { retryMaxMs: 1 }, onUncertain: 'recreate' });
      }),
    ).toBeUndefined();
  });

  it('is nothing to worry about where the input chose nothing', () => {
    expect(
      refusal(() => {
        requireAllowed({ ...everything, tuning: false, recreate: false }, undefined);
      }),
    ).toBeUndefined();
  });

  it.each<[string, () => void, RegExp]>([
    [
      'another account',
      () => {
        requireAllowedAccount({ ...everything, accounts: ['a', 'b'] }, 'c');
      },
      /^account is "c", .* a, b only; .*LONGHAUL_ALLOW_ACCOUNTS of the worker\. Nothing was uploaded or created\.$/,
    ],
    [
      'tuning',
      () => {
        requireAllowed({ ...everything, tuning: false }, { tuning: { retryMaxMs: 1 } });
      },
      /^tuning is \{"retryMaxMs":1\}, .*LONGHAUL_REFUSE/,
    ],
    [
      'a second create',
      () => {
        requireAllowed({ ...everything, recreate: false }, { onUncertain: 'recreate' });
      },
      /^onUncertain is "recreate", .*LONGHAUL_REFUSE/,
    ],
  ])('is refused for good where the operator forbids it: %s', (_what, check, message) => {
    const failure = refusal(check);

    expect(failure).toBeInstanceOf(ApplicationFailure);
    expect(failure).toMatchObject({
      type: 'NotAllowed',
      nonRetryable: true,
      message: expect.stringMatching(message) as string,
    });
  });
});
