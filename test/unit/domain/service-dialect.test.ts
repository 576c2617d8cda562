import { parseServiceCodes, parseStateWords, refusalMeanings } from '../../../src/domain/service-dialect';

describe('parseServiceCodes', () => {
  it('reads codes of success and what others mean', () => {
    expect(parseServiceCodes(' 41007 = QUEUE_FULL,0=SUCCESS, -3=UNAUTHORIZED ')).toEqual({
      success: [0],
      meanings: { 41007: 'QUEUE_FULL', '-3': 'UNAUTHORIZED' },
    });
  });

  it.each(refusalMeanings)('knows %s', (meaning) => {
    expect(parseServiceCodes(`7=${meaning}`)).toEqual({ success: [], meanings: { 7: meaning } });
  });

  it.each(['', ',', '41007', '41007=', '=QUEUE_FULL', '4.5=QUEUE_FULL', '1=QUEUEFULL', '1=toString', '1=SUCCESS,'])(
    'refuses %j',
    (text) => {
      expect(parseServiceCodes(text)).toBeUndefined();
    },
  );

  it('refuses a code that is there twice', () => {
    expect(parseServiceCodes('1=QUEUE_FULL,1=SUCCESS')).toBeUndefined();
    expect(parseServiceCodes('1=SUCCESS,1=SUCCESS')).toBeUndefined();
    expect(parseServiceCodes('1=SUCCESS,01=API_ERROR')).toBeUndefined();
  });
});

describe('parseStateWords', () => {
  it('reads words in any form and what each means', () => {
    expect(parseStateWords('Fertig = Success, in Arbeit=Running,排队=Queuing')).toEqual({
      ...{ fertig: 'Success', inarbeit: 'Running', 排队: 'Queuing' },
    });
  });

  it.each(['', 'x', 'x=', '=Success', 'x=Done', 'x=Success=1', 'x=Success,X=Failed'])('refuses %j', (text) => {
    expect(parseStateWords(text)).toBeUndefined();
  });
});
