import { randomUUID } from 'node:crypto';
import { InputChangedError, type Longhaul, TaskFailedError, UnknownTaskError } from '../../../src/index';
import { type FakeLonghaul, fakeLonghaul } from '../../../src/testing';
import { eventually } from '../../support/eventually';
import { seen } from '../../support/fake-activities';
import { forgettingMs, forgetWorkflow } from '../../support/forget-workflow';
import { refusedCreate } from '../../support/refused-create';
import { ClientEnvironment, smallInput } from './client-environment';

/** A task as a story tells it: what the service says is the test's choice. */
interface Subject {
  readonly longhaul: Longhaul;
  report(status: 'Queuing' | 'Running', queuePosition?: number): Promise<void>;
  succeed(): Promise<void>;
  fail(type: 'TaskFailed' | 'TaskRejected'): Promise<void>;
  forget(): Promise<void>;
}

let environment: ClientEnvironment;
beforeAll(async () => {
  environment = await ClientEnvironment.open();
  await environment.startWorkers();
});
afterAll(() => environment.close());

function real(key: string): Subject {
  const { longhaul, service, temporal } = environment;
  let create: (isRejected: boolean) => void = () => undefined;
  const isRejected = new Promise<boolean>((resolve) => {
    create = resolve;
  });
  service.requestId = randomUUID();
  service.script = [seen('Queuing')];
  service.createOutcomes = [
    async () => ((await isRejected) ? refusedCreate(400, 'no') : { outcome: 'accepted', requestId: service.requestId }),
  ];
  const say = (...given: Parameters<typeof seen>): Promise<void> => {
    service.script = [seen(...given)];
    create(false);
    return Promise.resolve();
  };
  return {
    longhaul,
    report: (status, queuePosition) => say(status, { queuePosition }),
    succeed: () => say('Success'),
    fail: (type) => {
      if (type === 'TaskFailed') return say('Failed');
      create(true);
      return Promise.resolve();
    },
    forget: () => forgetWorkflow(temporal, `task:${key}`),
  };
}

function fake(key: string): Subject {
  const made: FakeLonghaul = fakeLonghaul();
  return {
    longhaul: made.longhaul,
    report: async (status, queuePosition) => {
      (await made.task(key)).report(status, queuePosition);
    },
    succeed: async () => {
      (await made.task(key)).succeed([{ name: '0.png', content: 'pixels' }]);
    },
    fail: async (type) => {
      const details = type === 'TaskRejected' ? { httpStatus: 400, code: null } : undefined;
      (await made.task(key)).fail<'TaskFailed' | 'TaskRejected'>(type, { details });
    },
    forget: () => {
      made.forget(key);
      return Promise.resolve();
    },
  };
}

describe.each([
  ['the fake', fake],
  ['the client with a real Temporal and worker', real],
])('of %s', (_name, subject) => {
  let key: string;
  let of: Subject;
  beforeEach(() => {
    key = randomUUID();
    of = subject(key);
  });
  const start = (more: Partial<typeof smallInput> & { readonly watch?: 'activity' } = {}, retry = false) =>
    of.longhaul.start({ ...smallInput, ...more, key }, { retry, tags: ['customer:42'] });
  /** The status, once it is so. */
  const whenStatus = (wanted: object) => {
    const isSo = async () => {
      expect(await of.longhaul.task(key).status()).toMatchObject(wanted);
      return true;
    };
    return eventually(isSo, { what: `the status ${JSON.stringify(wanted)}` });
  };

  it('the same key attaches to its task, and names what has no effect', async () => {
    const first = await start();
    const second = await start({ watch: 'activity' });

    expect([first.origin, second.origin]).toEqual(['started', 'attached']);
    expect([first.withoutEffect, second.withoutEffect]).toEqual([[], ['watch']]);
    expect(second.workflowId).toBe(`task:${key}`);
    expect(await second.input()).toEqual(smallInput);
    await of.succeed();
    expect(await second.result()).toEqual(await first.result());
  });

  it('another input under the key is refused by its names', async () => {
    await start();

    const changed: unknown = await start({ inputs: { '2:ImageScale.width': 640 } }).catch((error: unknown) => error);
    expect(changed).toBeInstanceOf(InputChangedError);
    expect(changed).toMatchObject({ key, differing: ['inputs["2:ImageScale.width"]'] });
    await of.succeed();
    await of.longhaul.task(key).result();
  });

  it('states and the place in the queue are shown, and the end is told', async () => {
    const task = await start();
    const kinds: string[] = [];
    const followed = (async () => {
      for await (const event of task.events({ everyMs: 20 })) kinds.push(event.kind);
    })();
    await of.report('Queuing', 3);
    await whenStatus({ status: 'Queuing', serviceStatus: 'Queuing', queuePosition: 3, isOver: false });
    await eventually(() => kinds.includes('queue'), { what: 'the place in the queue' });
    await of.report('Running');
    await whenStatus({ status: 'Running', queuePosition: null, execution: 'RUNNING', tags: ['customer:42'] });
    await of.succeed();
    await followed;

    expect(kinds[0]).toBe('state');
    expect(kinds.at(-1)).toBe('end');
    expect(await task.isOver()).toBe(true);
    await whenStatus({
      status: 'Success',
      isOver: true,
      execution: 'COMPLETED',
      endedAt: expect.any(String) as unknown,
    });
  });

  it('a success has its outputs and their manifest', async () => {
    const task = await start();
    await of.succeed();

    expect(await task.result()).toMatchObject({
      status: 'Success',
      workflowId: task.workflowId,
      requestId: expect.any(String) as unknown,
      manifest: expect.stringMatching(/manifest\.json$/) as unknown,
      outputs: [{ path: expect.stringMatching(/0\.png$/) as unknown, ext: '.png' }],
      outputCount: 1,
      failedOutputs: [],
    });
  });

  it.each([
    ['TaskFailed', { failed: { status: 'Failed' }, requestId: expect.any(String) as unknown }],
    ['TaskRejected', { rejected: { httpStatus: 400, code: null }, requestId: null }],
  ] as const)('a failure has its type and details: %s', async (type, details) => {
    const task = await start();
    await of.fail(type);

    const failure: unknown = await task.result().catch((error: unknown) => error);
    if (!(failure instanceof TaskFailedError)) throw new Error('It did not fail.');
    const { failureType, requestId } = failure;
    const failed = failure.detailsOf('TaskFailed')?.result;
    const rejected = failure.detailsOf('TaskRejected');
    expect({ failureType, requestId, failed, rejected }).toMatchObject({ failureType: type, ...details });
    await whenStatus({ status: 'Failed', isOver: true, execution: 'FAILED' });
  });

  it.each([
    ['stop', 'Queuing'],
    ['stop', 'Running'],
    ['cancel', 'Queuing'],
    ['interrupt', 'Running'],
  ] as const)('a %s of a task that is %s ends it as Canceled', async (verb, state) => {
    const task = await start();
    await of.report(state);
    await whenStatus({ serviceStatus: state });
    await task[verb]();

    expect(await task.result()).toMatchObject({ status: 'Canceled', outputs: [], manifest: null });
    const execution = verb === 'stop' ? 'CANCELLED' : 'COMPLETED';
    const stopRequests = [{ verb, outcome: 'confirmed' }];
    await whenStatus({ status: 'Canceled', isOver: true, execution, stopRequests });
  });

  it('a cancel of a task that runs does not apply', async () => {
    const task = await start();
    await of.report('Running');
    await whenStatus({ serviceStatus: 'Running' });
    await task.cancel();
    await whenStatus({ stopRequests: [{ verb: 'cancel', outcome: 'notApplicable' }], isOver: false });
    await of.succeed();

    expect(await task.result()).toMatchObject({ status: 'Success' });
  });

  it('a retry starts a task again that failed, and keeps one that succeeded', async () => {
    const failed = await start();
    await of.fail('TaskFailed');
    await expect(failed.result()).rejects.toThrow(TaskFailedError);
    const again = await start({}, true);
    await of.succeed();
    const result = await again.result();
    const kept = await start({}, true);

    expect([again.origin, kept.origin]).toEqual(['started', 'attached']);
    expect(result).toMatchObject({ status: 'Success' });
    expect(await kept.result()).toEqual(result);
  });

  it('a wait ends with its signal, and the task goes on', async () => {
    const task = await start();
    const reason = new Error('The client left.');
    await expect(task.result({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    await of.succeed();
    expect(await task.result()).toMatchObject({ status: 'Success' });
  });

  it(
    'a task whose history is gone is not known any longer',
    async () => {
      const task = await start();
      await of.succeed();
      await task.result();
      await of.forget();

      await expect(of.longhaul.task(key).status()).rejects.toThrow(UnknownTaskError);
      await expect(task.result()).rejects.toThrow(UnknownTaskError);
    },
    forgettingMs,
  );
});
