/* A task that one signal wedges: a worker that is not at fault cannot go on with it. */
import { CancellationScope, condition, defineQuery, defineSignal, setHandler } from '@temporalio/workflow';

/** It waits until it is cancelled. */
export async function task(): Promise<void> {
  setHandler(defineSignal('wedge'), () => {
    throw new Error('this signal cannot be handled');
  });
  setHandler(defineQuery('state'), () =>
    CancellationScope.current().consideredCancelled ? 'asked to stop' : 'not asked to stop',
  );
  await condition(() => false);
}
