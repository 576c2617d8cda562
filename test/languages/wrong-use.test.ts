import { randomUUID } from 'node:crypto';
import { fastTuning } from '../support/task-environment';
import { TaskStack } from '../support/task-stack';
import { type ExampleEnd, type ExampleName, languages, runExample } from './language';

/* What an example says to a backend engineer who gives it what it cannot use. */

let stack: TaskStack;
beforeAll(async () => {
  stack = await TaskStack.open();
});
afterAll(() => stack.close());

const quick = { webAppId: 5, inputs: { '2:Wait.seconds': 0 }, tuning: fastTuning };

describe.each(languages)('a key by which commands would not know the task, in $name', (language) => {
  it.each(['order/17', 'a b', '../x', 'x'.repeat(81), ''])('is refused before anything starts: %j', async (key) => {
    const { exitCode, stdout, stderr } = await runExample(stack, language, 'start-task', [key, JSON.stringify(quick)]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toBe(
      `${language.name === 'Go' ? 'the' : 'The'} key is ${JSON.stringify(key)}; give 1 to 80 letters, digits, dots, underscores or hyphens${language.name === 'Go' ? '' : '.'}\n`,
    );
    await expect(stack.client.workflow.getHandle(`task:${key}`).describe()).rejects.toThrow(/not found/);
  });
});

const examples: readonly ExampleName[] = [
  'start-task',
  'start-batch',
  'follow-task',
  'stop-task',
  'adopt-task',
  'decide-task',
  'try-policies',
];

describe.each(languages)('a command in $name', (language) => {
  it.each(examples)('says how it is used where it is given nothing: %s', async (name) => {
    const { exitCode, stdout, stderr } = await runExample(stack, language, name, []);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^usage: ${name.replace('-', '[-_]')}(?:\\.py)? `));
  });

  it.each<[ExampleName, ...string[]]>([
    ['adopt-task', randomUUID(), 'and-another'],
    ['follow-task', 'order-17', 'order-18'],
    ['stop-task', 'order-17', 'end'],
    ['decide-task', 'order-17', 'maybe'],
  ])('says how it is used where it is given what it does not take: %s', async (name, ...args) => {
    const { exitCode, stdout, stderr } = await runExample(stack, language, name, args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toMatch(/^usage: /);
  });
});

describe('a command in Python', () => {
  const python = languages.find(({ name }) => name === 'Python');
  if (python === undefined) throw new Error('Python is missing.');
  const run = (name: ExampleName, ...args: string[]): Promise<ExampleEnd> => runExample(stack, python, name, args);

  it.each<[ExampleName, ...string[]]>([['follow-task'], ['stop-task', 'stop'], ['decide-task', 'rearchive']])(
    'says in a sentence that there is no such task: %s',
    async (name, ...args) => {
      const end = await run(name, `never-${randomUUID()}`, ...args);
      expect(end).toMatchObject({
        exitCode: 2,
        stderr: 'Temporal has no task of this key: it was never started, or is forgotten.\n',
      });
    },
  );

  it('says in a sentence that a task is over which is to be stopped or decided about', async () => {
    const key = randomUUID();
    expect(await run('start-task', key, JSON.stringify(quick))).toMatchObject({ exitCode: 0 });
    const nothingToStop = { exitCode: 1, stdout: '', stderr: 'It is over: there is nothing to stop.\n' };
    expect(await run('stop-task', key, 'stop')).toMatchObject(nothingToStop);
    expect(await run('stop-task', key, 'interrupt')).toMatchObject(nothingToStop);
    const over = { exitCode: 2, stdout: '', stderr: 'It is over: nothing can be asked of it any more.\n' };
    expect(await run('decide-task', key, 'rearchive')).toMatchObject(over);
  });
});
