import { ApplicationFailure } from '@temporalio/common';
import { getService, requireAllowed } from '../../../src/activities/accounts';
import type { TaskChoices } from '../../../src/contract/task-input';
import { ServiceClient } from '../../../src/service';

const everything = { accounts: null, tuning: true, recreate: true };
const services = new Map([['a', Object.create(ServiceClient.prototype) as ServiceClient]]);

function refusal(check: () => void): unknown {
  try {
    check();
  } catch (error) {
    return error;
  }
  return undefined;
}

function choosing(choices: TaskChoices | undefined, allowed = everything): unknown {
  return refusal(() => {
    requireAllowed(allowed, choices);
  });
}

function ofAccount(account: string, accounts: string[] | null): unknown {
  return refusal(() => getService({ services, limits: new Map(), allowed: { ...everything, accounts } }, account));
}

describe('what a task’s input may choose', () => {
  it('is everything where the operator says nothing, and nothing where the input chose nothing', () => {
    expect(ofAccount('a', null)).toBeUndefined();
    expect(choosing({ tuning: { retryMaxMs: 1 }, onUncertain: 'recreate' })).toBeUndefined();
    expect(choosing(undefined, { ...everything, tuning: false, recreate: false })).toBeUndefined();
  });

  it.each<[string, () => unknown, RegExp]>([
    ['another account', () => ofAccount('c', ['a', 'b']), /^account is "c", .* a, b only; .*LONGHAUL_ALLOW_ACCOUNTS/],
    [
      'tuning',
      () => choosing({ tuning: { retryMaxMs: 1 } }, { ...everything, tuning: false }),
      /^tuning is .*LONGHAUL_REFUSE/,
    ],
    [
      'the policy that may pay twice',
      () => choosing({ onUncertain: 'recreate' }, { ...everything, recreate: false }),
      /^onUncertain is "recreate".*LONGHAUL_REFUSE/,
    ],
  ])('is not %s where the operator refuses it', (_what, check, words) => {
    const failure = check();
    expect(failure).toBeInstanceOf(ApplicationFailure);
    expect(failure).toMatchObject({ type: 'NotAllowed', nonRetryable: true });
    expect((failure as Error).message).toMatch(words);
    expect((failure as Error).message).toMatch(/of the worker\. Nothing was uploaded or created\.$/);
  });
});
