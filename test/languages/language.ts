import { join } from 'node:path';
import { languageExamples } from '../../tools/language-examples';
import { type CommandEnd, runToEnd } from '../support/run-longhaul';
import type { TaskStack } from '../support/task-stack';
import { temporalAddress } from '../support/temporal-connection';

/** An example, as both languages have it. */
export type ExampleName =
  'start-task' | 'start-batch' | 'follow-task' | 'stop-task' | 'adopt-task' | 'decide-task' | 'try-policies';

/** A language that examples are written in. */
export interface Language {
  readonly name: string;
  /** What starts an example; options come before the arguments. */
  readonly toCommand: (
    example: ExampleName,
    args: readonly string[],
    options?: Readonly<Record<string, string>>,
  ) => { readonly command: string; readonly args: readonly string[] };
}

const python: Language = {
  name: 'Python',
  toCommand: (example, args, options = {}) => ({
    command: process.env['LONGHAUL_TEST_PYTHON'] ?? '',
    args: [
      join(languageExamples.python, `${example.replace('-', '_')}.py`),
      ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]),
      ...args,
    ],
  }),
};

const go: Language = {
  name: 'Go',
  toCommand: (example, args, options = {}) => ({
    command: join(process.env['LONGHAUL_TEST_GO_PROGRAMS'] ?? '', example),
    args: [...Object.entries(options).map(([name, value]) => `-${name}=${value}`), ...args],
  }),
};

/** The languages, each of which must show the same. */
export const languages: readonly Language[] = [python, go];

/** How an example ended, and each line of JSON that it printed. */
export interface ExampleEnd extends CommandEnd {
  readonly lines: readonly unknown[];
  /** The last of them. */
  readonly last: unknown;
}

/** Runs an example against a stack, as a process of its own. */
export async function runExample(
  { taskQueue }: Pick<TaskStack, 'taskQueue'>,
  ...call: [language: Language, ...Parameters<Language['toCommand']>]
): Promise<ExampleEnd> {
  const [language, ...command] = call;
  const end = await runToEnd(language.toCommand(...command), {
    env: {
      ...{ PATH: process.env['PATH'], HOME: process.env['HOME'] },
      ...{ TEMPORAL_ADDRESS: temporalAddress(), TASK_QUEUE: taskQueue, PYTHONDONTWRITEBYTECODE: '1' },
    },
    timeout: 170_000,
  });
  const lines = end.stdout.split('\n').flatMap((line): unknown[] => (line.startsWith('{') ? [JSON.parse(line)] : []));
  return { ...end, lines, last: lines.at(-1) };
}
