import { randomUUID } from 'node:crypto';
import { runCommandLine } from '../../src/commands/program';
import { searchAttributes } from '../../src/contract/search-attributes';
import { ClientEnvironment, smallInput } from '../integration/client/client-environment';
import { eventually } from '../support/eventually';
import { seen } from '../support/fake-activities';
import { FakeContext } from '../support/fake-context';

/** A link, a colour, a cleared screen in seven and in eight bits, a text that runs backwards, and a line of its own. */
const hostile =
  '\u001b]8;;http://evil.example\u0007click\u001b]8;;\u0007 \u001b[2J\u009b31m\u009d0;t\u009c gpj.\u202exe\nSuccess  task:forged';
const active = /[^\P{Cc}\n]|\p{Bidi_Control}/u;

let environment: ClientEnvironment;

beforeAll(async () => {
  environment = await ClientEnvironment.open();
  await environment.startWorkers();
});

afterAll(() => environment.close());

async function run(args: readonly string[], columns?: number): Promise<FakeContext> {
  const context = new FakeContext({ TEMPORAL_ADDRESS: environment.address }, columns);
  await runCommandLine(args, context);
  return context;
}

function linesOf(...contexts: FakeContext[]): string[] {
  return contexts.flatMap(({ stdout, stderr }) => `${stdout.text}\n${stderr.text}`.split('\n'));
}

describe('what a command prints of words from outside', () => {
  it('moves no cursor, makes no link and no line of its own: status, result and failure of a task', async () => {
    const { service, taskQueue } = environment;
    const key = randomUUID();
    service.script = [seen('Running', { status: hostile })];
    const task = await environment.longhaul.start({ ...smallInput, key });
    await eventually(async () => (await task.status()).serviceStatus !== null, { what: 'a task that was polled' });
    const running = await run(['status', key]);
    const runningJson = await run(['status', key, '--json']);

    service.script = [seen('Failed', { errorMessage: hostile })];
    const followed = await run(['status', key, '--follow']);
    const failed = await run(['run', '7', '--key', key, '-i', '2:ImageScale.width=512', '--task-queue', taskQueue]);
    const over = await run(['status', key]);

    const human = [running, followed, failed, over];
    expect(linesOf(...human).filter((line) => active.test(line))).toEqual([]);
    expect(linesOf(...human).filter((line) => line.startsWith('Success  task:forged'))).toEqual([]);
    expect(linesOf(...human).join()).toContain('evil.example');
    expect(runningJson.stdout.text).not.toMatch(active);
    expect(JSON.parse(runningJson.stdout.text)).toMatchObject({
      serviceStatus: expect.stringContaining('click') as string,
    });
  });

  it('holds for ids and attributes that a client of Temporal made up: list, status and the display on a terminal', async () => {
    const { temporal, taskQueue, service } = environment;
    service.script = [seen('Running')];
    const workflowId = `task:${hostile}${randomUUID()}`;
    await temporal.workflow.start('task', {
      ...{ workflowId, taskQueue, args: [smallInput] },
      typedSearchAttributes: [{ key: searchAttributes.account, value: hostile }],
    });
    const list = async (): Promise<FakeContext> => await run(['list', '--limit', '1000']);
    await eventually(async () => (await list()).stdout.text.includes('forged'), { what: 'the task in the list' });
    const listed = await list();
    const asJson = await run(['list', '--limit', '1000', '--json']);
    const status = await run(['status', workflowId]);
    await temporal.workflow.getHandle(workflowId).terminate();
    const followed = await run(['status', workflowId, '--follow'], 120);

    expect(linesOf(listed, status).filter((line) => active.test(line))).toEqual([]);
    expect(linesOf(listed, status).filter((line) => line.startsWith('Success  task:forged'))).toEqual([]);
    expect(asJson.stdout.text).not.toMatch(active);
    const { tasks } = JSON.parse(asJson.stdout.text) as { tasks: { workflowId: string }[] };
    expect(tasks.map((task) => task.workflowId)).toContain(workflowId);
    // The display writes sequences of its own, but none of the text.
    const { text } = followed.stderr;
    expect(
      ['\u001b]', '\u001b[2J', '\u009b', '\u009d', '\u202e'].filter((sequence) => text.includes(sequence)),
    ).toEqual([]);
  });
});
