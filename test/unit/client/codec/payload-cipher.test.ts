import { randomBytes } from 'node:crypto';
import { type Payload, ValueError } from '@temporalio/common';
import fc from 'fast-check';
import { clientDataConverter, workerDataConverter } from '../../../../src/client/codec/data-converter';
import { PayloadBrokenError, PayloadCipher } from '../../../../src/client/codec/payload-cipher';
import { ConfigError } from '../../../../src/config/environment';
import { codecKeys, newCodecKey } from '../../../support/codec-keys';
import { fuzzSeed, useFuzzSeed } from '../../../support/fuzz-seed';
import { jsonPayload, rawPayload } from '../../../support/raw-messages';

useFuzzSeed();

const [first, second] = [newCodecKey(), newCodecKey()];
const cipher = new PayloadCipher(codecKeys({ k1: first }));

/** Payloads of any encoding, those of other codecs and none of Longhaul's. */
const payloads = fc
  .record({
    metadata: fc.dictionary(fc.string({ minLength: 1 }), fc.uint8Array({ maxLength: 40 }), { noNullPrototype: true }),
    data: fc.uint8Array({ maxLength: 2_000 }),
  })
  .map(({ metadata, data }): Payload => ({ metadata, data }));

/** Bytes as plain numbers, so that kinds of byte arrays do not count. */
function plain({ metadata, data }: Payload): unknown {
  const fields = Object.entries(metadata ?? {}).map(([name, value]) => [name, [...value]] as const);
  return { metadata: new Map(fields), data: [...(data ?? [])] };
}

function bytesOf({ data }: Payload): Uint8Array {
  return data ?? new Uint8Array();
}

/** With the data changed, whatever it says of its key. */
function withData(payload: Payload, data: Uint8Array): Payload {
  return { ...payload, data };
}

function errorOf(decrypt: () => unknown): Error {
  try {
    decrypt();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('It was decrypted.');
}

describe(`a payload that is encrypted (SEED=${fuzzSeed})`, () => {
  it('is decrypted to the same payload, whatever its encoding, metadata and bytes', () => {
    fc.assert(
      fc.property(payloads, (payload) => {
        expect(plain(cipher.decrypt(cipher.encrypt(payload)))).toEqual(plain(payload));
      }),
    );
  });

  it('says its encoding, the id of its key and a check of it, and holds nothing of the text', () => {
    const encrypted = cipher.encrypt(jsonPayload({ prompt: 'a letter to the mayor of a small town' }));
    const metadata = Object.entries(encrypted.metadata ?? {}).map(([name, value]) => [name, String(value)]);
    expect(Object.fromEntries(metadata)).toEqual({
      encoding: 'binary/longhaul-aes-256-gcm',
      'encryption-key-id': 'k1',
      'encryption-key-check': expect.stringMatching(/^[0-9a-f]{16}$/) as string,
    });
    expect(Buffer.from(bytesOf(encrypted)).toString('latin1')).not.toContain('letter');
  });

  it('is another one each time, and at most 150 bytes longer, with a key id of 80 characters 230', () => {
    const sizeOf = (payload: Payload): number =>
      Object.entries(payload.metadata ?? {}).reduce((sum, [name, value]) => sum + name.length + value.length, 0) +
      bytesOf(payload).length;
    const payload = jsonPayload('x'.repeat(1_000));
    const longId = new PayloadCipher(codecKeys({ ['k'.repeat(80)]: first }));
    expect(bytesOf(cipher.encrypt(payload))).not.toEqual(bytesOf(cipher.encrypt(payload)));
    expect(sizeOf(cipher.encrypt(payload)) - sizeOf(payload)).toBeLessThanOrEqual(150);
    expect(sizeOf(longId.encrypt(payload)) - sizeOf(payload)).toBeLessThanOrEqual(230);
  });

  it('may have two megabytes', () => {
    const payload = rawPayload('binary/plain', randomBytes(2 * 1024 ** 2));
    expect(Buffer.compare(bytesOf(cipher.decrypt(cipher.encrypt(payload))), bytesOf(payload))).toBe(0);
  });

  it('is refused when one bit of it is changed, or any part of it is cut', () => {
    const encrypted = cipher.encrypt(jsonPayload({ requestId: 'r-1' }));
    const { length } = bytesOf(encrypted);
    fc.assert(
      fc.property(fc.nat(length - 1), fc.nat(7), (index, bit) => {
        const changed = Uint8Array.from(bytesOf(encrypted), (byte, at) => (at === index ? byte ^ (1 << bit) : byte));
        expect(() => cipher.decrypt(withData(encrypted, changed))).toThrow(PayloadBrokenError);
      }),
    );
    for (let end = 0; end < length; end += 1) {
      const cut = withData(encrypted, bytesOf(encrypted).subarray(0, end));
      expect(() => cipher.decrypt(cut)).toThrow(PayloadBrokenError);
    }
    expect(() => cipher.decrypt({ ...encrypted, data: null })).toThrow(/"k1", and was changed or cut/);
  });

  it('is refused under the id of another key, even where both stand for the same key', () => {
    const both = new PayloadCipher(codecKeys({ k1: first, k2: first }));
    const encrypted = both.encrypt(jsonPayload(1));
    const moved = { ...encrypted, metadata: { ...encrypted.metadata, 'encryption-key-id': Buffer.from('k2') } };
    expect(() => both.decrypt(moved)).toThrow(PayloadBrokenError);
  });

  it('is of a kind that Temporal’s own converters throw, for the callers that know those', () => {
    expect(errorOf(() => cipher.decrypt(withData(cipher.encrypt(jsonPayload(1)), new Uint8Array())))).toBeInstanceOf(
      ValueError,
    );
  });
});

describe('keys', () => {
  const older = cipher.encrypt(jsonPayload('older'));

  it('are rotated: the current one encrypts, each decrypts', () => {
    const rotated = new PayloadCipher(codecKeys({ k2: second, k1: first }));
    expect(plain(rotated.decrypt(older))).toEqual(plain(jsonPayload('older')));
    const newer = rotated.encrypt(jsonPayload('newer'));
    expect(String(newer.metadata?.['encryption-key-id'])).toBe('k2');
    expect(errorOf(() => cipher.decrypt(newer))).toBeInstanceOf(ConfigError);
  });

  it.each([
    ['none', null, /LONGHAUL_CODEC_KEYS_FILE is not set, but a payload is encrypted with the key "k1"; give it/],
    [
      'only others',
      { k2: second },
      /LONGHAUL_CODEC_KEYS_FILE has no key "k1", which a payload is encrypted with; add it/,
    ],
    ['another one of the same id', { k1: second }, /LONGHAUL_CODEC_KEYS_FILE has another key "k1" than/],
  ])('say which one is missing when there are %s', (_what, keys, words) => {
    const error = errorOf(() => new PayloadCipher(keys === null ? null : codecKeys(keys)).decrypt(older));
    expect(error).toBeInstanceOf(ConfigError);
    expect(error.message).toMatch(words);
  });

  it('that a payload only claims are told bounded and on one line', () => {
    const metadata = { ...older.metadata, 'encryption-key-id': Buffer.from(`k9\n\u001b[2J${'x'.repeat(100_000)}`) };
    const { message } = errorOf(() => cipher.decrypt({ ...older, metadata }));
    expect(message.length).toBeLessThan(300);
    expect(message).not.toContain('\u001b');
    expect(message.split('\n')).toHaveLength(2);
  });
});

describe('a payload that Longhaul did not encrypt', () => {
  it('is left as it is: of plain JSON, of another codec, or without metadata', () => {
    for (const payload of [jsonPayload(1), rawPayload('binary/encrypted', 'x'), rawPayload(null, 'x'), {}]) {
      expect(cipher.decrypt(payload)).toBe(payload);
    }
  });

  it('stays so without keys', () => {
    const payload = jsonPayload(1);
    expect(new PayloadCipher(null).encrypt(payload)).toBe(payload);
  });
});

describe('the codec of a worker', () => {
  const [codec] = workerDataConverter(codecKeys({ k1: first })).payloadCodecs ?? [];
  const broken = withData(cipher.encrypt(jsonPayload(1)), randomBytes(40));
  const workflow = { type: 'workflow', namespace: 'default', workflowId: 'task:a' } as const;
  const activity = { type: 'activity', namespace: 'default', isLocal: false } as const;

  it('leaves a broken message of a workflow to the payload converter, and refuses a broken result of an activity', async () => {
    expect(await codec?.decode([broken, jsonPayload(2)], workflow)).toEqual([broken, jsonPayload(2)]);
    await expect(codec?.decode([broken], activity)).rejects.toThrow(PayloadBrokenError);
  });

  it('refuses whatever its key is missing for, also where nothing is encrypted', async () => {
    const [without] = workerDataConverter(null).payloadCodecs ?? [];
    const payload = cipher.encrypt(jsonPayload(1));
    await expect(without?.decode([payload], workflow)).rejects.toThrow(ConfigError);
    await expect(without?.decode([payload], activity)).rejects.toThrow(/LONGHAUL_CODEC_KEYS_FILE is not set/);
    expect(await without?.encode([jsonPayload(1)])).toEqual([jsonPayload(1)]);
  });

  it('encodes failures only where it encrypts', () => {
    expect(workerDataConverter(null).failureConverterPath).toBeUndefined();
    expect(workerDataConverter(codecKeys({ k1: first })).failureConverterPath).toMatch(/failure-converter/);
  });
});

describe('the codec of a client', () => {
  it('refuses a broken payload, too', async () => {
    const [codec] = clientDataConverter(codecKeys({ k1: first })).payloadCodecs ?? [];
    const broken = withData(cipher.encrypt(jsonPayload(1)), randomBytes(40));
    await expect(codec?.decode([broken])).rejects.toThrow(PayloadBrokenError);
  });
});
