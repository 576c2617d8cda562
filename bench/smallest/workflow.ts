import { proxyActivities } from '@temporalio/workflow';
import type { SmallestActivities, SmallestInput } from './activities';

const { create, watch, fetchOutputs } = proxyActivities<SmallestActivities>({
  startToCloseTimeout: '1 hour',
  heartbeatTimeout: '30 seconds',
  retry: { maximumAttempts: 3 },
});

/** The least that follows a task of the service: create it, watch it to its end, fetch its files. */
export async function smallest(input: SmallestInput): Promise<readonly string[]> {
  const { requestId } = await create(input);
  await watch({ requestId, pollMs: input.pollMs });
  return (await fetchOutputs({ requestId })).files;
}
