import { toFailedPoll } from '../../../src/activities/poll-task';
import { ServiceUnavailableError, UnauthorizedError } from '../../../src/service';

const keySettings = new Map([['studio', 'LONGHAUL_API_KEY']]);

describe('the problem of a query that failed', () => {
  it('says what to do where the service does not accept the API key', () => {
    const refused = new UnauthorizedError('the key is not known (HTTP 401)', { httpStatus: 401 }, 'UNAUTHORIZED');
    expect(toFailedPoll({ keySettings }, 'studio', refused)).toEqual({
      seen: 'nothing',
      problem:
        'the key is not known (HTTP 401); the API key of the account "studio" is not accepted: correct it in LONGHAUL_API_KEY of the worker, and start the worker again',
    });
  });

  it('has no word about the key for any other', () => {
    const busy = new ServiceUnavailableError('no (HTTP 503)', { httpStatus: 503 }, 'SERVICE_UNAVAILABLE');
    expect(toFailedPoll({ keySettings }, 'studio', busy)).toEqual({ seen: 'nothing', problem: 'no (HTTP 503)' });
  });
});
