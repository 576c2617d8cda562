import { fastTuning } from '../support/task-environment';
import { TaskStack } from '../support/task-stack';
import { type ExampleName, languages, runExample } from './language';

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
    expect(stderr).toMatch(/^[Tt]he key is /);
    await expect(stack.client.workflow.getHandle(`task:${key}`).describe()).rejects.toThrow(/not found/);
  });
});

const examples: readonly ExampleName[] = [
  ...(['start-task', 'start-batch', 'follow-task', 'stop-task'] as const),
  ...(['adopt-task', 'decide-task', 'try-policies'] as const),
];

describe.each(languages)('a command in $name', (language) => {
  it.each(examples)('says how it is used where it is given nothing: %s', async (name) => {
    const { exitCode, stdout, stderr } = await runExample(stack, language, name, []);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^usage: ${name.replace('-', '[-_]')}(?:\\.py)? `));
  });
});
