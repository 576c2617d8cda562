import { parseServiceDialect, refusalMeanings } from '../../../src/core/service-dialect';

describe('parseServiceDialect', () => {
  it('reads the prefix of headers, codes of success, what others mean, and words for states in any form', () => {
    const text =
      'header=X-Acme-, 41007 = QUEUE_FULL,0=SUCCESS, -3=UNAUTHORIZED,in Arbeit=Running,排队=Queuing,header=Failed';
    expect(parseServiceDialect(text)).toEqual({
      headerPrefix: 'X-Acme-',
      codes: { success: [0], meanings: { 41007: 'QUEUE_FULL', '-3': 'UNAUTHORIZED' } },
      states: { inarbeit: 'Running', 排队: 'Queuing', header: 'Failed' },
    });
  });

  it.each(refusalMeanings)('knows %s, and leaves the rest as the specification has it', (meaning) => {
    expect(parseServiceDialect(`7=${meaning}`)).toEqual({
      headerPrefix: 'X-Svc-Task-',
      codes: { success: [], meanings: { 7: meaning } },
      states: {},
    });
  });

  it.each([
    ...['', ',', '41007', '41007=', '=QUEUE_FULL', '4.5=QUEUE_FULL', '1=QUEUEFULL', '1=toString', '1=SUCCESS,'],
    ...['x', 'x=', '=Success', 'x=Done', 'x=Success=1', 'x=Success,X=Failed', 'header=X', 'header=A-,header=B-'],
    ...['1=QUEUE_FULL,1=SUCCESS', '1=SUCCESS,1=SUCCESS', '1=SUCCESS,01=API_ERROR'],
  ])('refuses %j', (text) => {
    expect(parseServiceDialect(text)).toBeUndefined();
  });
});
