import type { TaskHandle } from '../../../src/client/task/task-handle';
import { createEventEmitter, tellDetached } from '../../../src/commands/batch/follow-batch';
import { untilStarted } from '../../../src/commands/command-context';
import { startAndFollow } from '../../../src/commands/task/follow-task';
import { FakeContext } from '../../support/fake-context';

const waits = 'Waiting for Temporal to say whether it was started; another Ctrl-C ends the command at once.\n';

/** Presses Ctrl-C while the start is on its way. */
function interrupted<Handle>(context: FakeContext, handle: Handle): () => Promise<Handle> {
  return async () => {
    expect(context.pressCtrlC()).toBe(true);
    await Promise.resolve();
    return handle;
  };
}

describe('Ctrl-C while a start is on its way', () => {
  it('ends the command only once it has told that the task was started and goes on', async () => {
    const context = new FakeContext();
    const task = Object.assign(Object.create(null) as TaskHandle, {
      workflowId: 'task:a',
      origin: 'started',
      url: null,
      withoutEffect: [],
    });

    await startAndFollow(context, interrupted(context, task), {});

    expect(context.stderr.text).toBe(
      `${waits}Started task:a\n` +
        'Detached: the task task:a goes on without this command.\n' +
        '  follow it: longhaul status a --follow\n' +
        '  stop it:   longhaul stop a\n',
    );
    expect(context.exitCode).toBe(130);
    expect(context.pressCtrlC()).toBe(false);
  });

  it('says the same of a batch', async () => {
    const context = new FakeContext();
    const batch = { id: 'photos', workflowId: 'batch:photos' };

    const { started, isInterrupted } = await untilStarted(context, interrupted(context, batch));
    expect(isInterrupted).toBe(true);
    tellDetached(context, started, createEventEmitter(context.stdout, true));

    expect(context.stderr.text).toContain(`${waits}Detached: the batch batch:photos goes on`);
    expect(JSON.parse(context.stdout.text)).toEqual({ event: 'detached', workflowId: 'batch:photos' });
    expect(context.exitCode).toBe(130);
  });

  it('changes nothing of a start that fails, and listens no longer', async () => {
    const context = new FakeContext();

    await expect(untilStarted(context, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(context.pressCtrlC()).toBe(false);
  });
});
