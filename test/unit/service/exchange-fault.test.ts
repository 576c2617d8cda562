import { inspect } from 'node:util';
import { knownSecrets } from '../../../src/domain/redact';
import { ExchangeFault, toExchangeFault } from '../../../src/service/exchange-fault';

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
