import fc from 'fast-check';
import { inputDigest, type TaskInput } from '../../../src/contract/task-input';

const input: TaskInput = {
  webAppId: 7,
  inputs: { '1:LoadImage.image': { file: 'photo.jpg', as: 'url' }, '2:ImageScale.width': 512 },
};

describe('the digest of an input', () => {
  it('is a SHA-256 that stays what it is: it stands in memos for as long as Temporal keeps a task', () => {
    expect(inputDigest(input)).toBe('ebc442f676a1f4d7b3e743fa501a5845a4ae482f739ef81ef6f06960e6edbe6e');
  });

  it('does not depend on the order of fields', () => {
    const shuffled = fc.shuffledSubarray(Object.entries(input.inputs), { minLength: 2 });
    fc.assert(
      fc.property(shuffled, (entries) => {
        expect(inputDigest({ inputs: Object.fromEntries(entries), webAppId: 7 })).toBe(inputDigest(input));
      }),
    );
  });

  it('does not depend on the number of the create, how the task is followed, nor fields that are not set', () => {
    const how: Partial<TaskInput> = { createNumber: 3, deadlines: { run: '6h' }, webhook: 'shop', watch: 'activity' };
    const more = { ...how, archive: 'drafts', onUncertain: 'fail', tuning: { retryMaxMs: 7 } } as const;
    expect(inputDigest({ ...input, ...more })).toBe(inputDigest(input));
    expect(inputDigest({ ...input, account: 'default', suppressPreviewOutput: false })).toBe(inputDigest(input));
    expect(inputDigest(Object.assign({ account: undefined }, input))).toBe(inputDigest(input));
  });

  it('of an adopted task depends on its request id and account, not on how it is followed', () => {
    const adopted = { adopt: { requestId: 'r-1' } };
    expect(inputDigest({ ...adopted, account: 'default', archive: 'rescued' })).toBe(inputDigest(adopted));
    expect(inputDigest({ ...adopted, account: 'studio' })).not.toBe(inputDigest(adopted));
    expect(inputDigest({ adopt: { requestId: 'r-2' } })).not.toBe(inputDigest(adopted));
  });

  it.each<[string, TaskInput]>([
    ['another app', { ...input, webAppId: 8 }],
    ['another value', { ...input, inputs: { ...input.inputs, '2:ImageScale.width': 513 } }],
    ['a number as text', { ...input, inputs: { ...input.inputs, '2:ImageScale.width': '512' } }],
    ['one input more', { ...input, inputs: { ...input.inputs, '2:ImageScale.height': 512 } }],
    ['another account', { ...input, account: 'studio' }],
    ['no previews', { ...input, suppressPreviewOutput: true }],
    ['an adopted task', { adopt: { requestId: 'r-1' } }],
  ])('tells %s apart', (_, other) => {
    expect(inputDigest(other)).not.toBe(inputDigest(input));
  });
});
