import { toApplicationFailure } from '../../src/activities/to-application-failure';
import { RateLimitedError } from '../../src/service';
import { FakeService } from '../support/fake-activities';
import { TaskEnvironment } from '../support/task-environment';

const environment = TaskEnvironment.forSuite();

describe('a service that is busy', () => {
  it.concurrent('and asks for no pause (Retry-After: 0) does not end a task', async () => {
    const service = new FakeService();
    const { storeInput } = service.activities;
    let refusals = 0;
    const busyOnce: typeof storeInput = async (input) => {
      refusals += 1;
      if (refusals > 1) return await storeInput(input);
      throw toApplicationFailure(new RateLimitedError('busy', { httpStatus: 429, retryAfterMs: 0 }, 'RATE_LIMITED'));
    };
    const activities = { ...service.activities, storeInput: busyOnce };
    const { status } = await environment.withTask(activities, {}, (task) => task.result());
    expect(status).toBe('Success');
  });
});
