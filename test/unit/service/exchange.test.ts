import { inspect } from 'node:util';
import { knownSecrets } from '../../../src/core/redact';
import { ExchangeFault, parseRetryAfter, toExchangeFault } from '../../../src/service/exchange';

function systemError(code: string): Error {
  return Object.assign(new Error(`failed with THE-KEY at https://h/?sig=THE-SIGNATURE`), {
    code,
    data: 'bytes with THE-TOKEN',
    socket: { bytes: 'THE-TOKEN' },
  });
}

describe('toExchangeFault', () => {
  it.each([
    ['ECONNREFUSED', 'unreachable', 'the connection was refused (ECONNREFUSED)'],
    ['ENOTFOUND', 'unreachable', 'the host name is not known (ENOTFOUND)'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'unreachable', 'the TLS connection failed (DEPTH_ZERO_SELF_SIGNED_CERT)'],
    ['HPE_INVALID_CONSTANT', 'notHttp', 'the reply is not HTTP (HPE_INVALID_CONSTANT)'],
    ['UND_ERR_HEADERS_OVERFLOW', 'notHttp', 'the headers of the reply are too large (UND_ERR_HEADERS_OVERFLOW)'],
    ['EWHATEVER', 'unreachable', 'the connection failed (EWHATEVER)'],
  ])('reads %s', (code, kind, message) => {
    expect(toExchangeFault(systemError(code))).toMatchObject({ kind, message });
  });

  it('keeps of the cause only its name, its code and its message made safe', () => {
    knownSecrets.add('THE-KEY');
    const fault = toExchangeFault(systemError('ECONNRESET'));
    expect(fault.cause).toMatchObject({ code: 'ECONNRESET', message: 'failed with [redacted] at https://h/' });
    expect(inspect(fault, { depth: 9, showHidden: true })).not.toMatch(/THE-(KEY|SIGNATURE|TOKEN)/);
  });

  it('reads whatever is thrown', () => {
    for (const thrown of [undefined, null, 'text', 7, {}, new Error('plain')]) {
      expect(toExchangeFault(thrown)).toBeInstanceOf(ExchangeFault);
    }
  });
});

/** As the reply has it. */
const date = 'Thu, 01 Jan 2026 00:00:00 GMT';

describe('parseRetryAfter', () => {
  it.each([
    ['0', 0],
    ['3', 3_000],
    [' 12 ', 12_000],
    ['99999999', 3_600_000],
    ['Thu, 01 Jan 2026 00:00:05 GMT', 5_000],
    ['Thursday, 01-Jan-26 00:00:05 GMT', 5_000],
    ['Wed, 31 Dec 2025 23:59:00 GMT', 0],
    ['Fri, 01 Jan 2027 00:00:00 GMT', 3_600_000],
  ])('reads %j as %i ms', (value, expected) => {
    expect(parseRetryAfter(value, date)).toBe(expected);
  });

  it.each([undefined, '', '-1', '1.5', '3 seconds', '2026-01-01', 'Thu, 99 Foo 2026', '0x10', '1e3'])(
    'ignores %j',
    (value) => {
      expect(parseRetryAfter(value, date)).toBeUndefined();
    },
  );

  it('ignores a date in a reply that does not say when it was sent', () => {
    expect(parseRetryAfter('Thu, 01 Jan 2026 00:00:05 GMT', undefined)).toBeUndefined();
  });
});
