import { readFileSync } from 'node:fs';
import path from 'node:path';
import { CommanderError } from 'commander';
import {
  DecisionRefusedError,
  InputChangedError,
  InputInvalidError,
  NoWorkerError,
  TaskFailedError,
  TaskOverError,
  UnknownTaskError,
} from '../../../src/client/errors';
import {
  NamespaceMissingError,
  SearchAttributesMissingError,
  TemporalBusyError,
  TemporalRefusedError,
  TemporalUnreachableError,
} from '../../../src/client/connection-errors';
import { exitCodes } from '../../../src/commands/exit-code';
import { explainFailure } from '../../../src/commands/explained-failure';
import { ConfigError } from '../../../src/config/environment';
import { RowFileError } from '../../../src/rows';
import { failureTypes } from '../../../src/contract/failure-types';

function taskFailed(failureType: TaskFailedError['failureType']): TaskFailedError {
  return new TaskFailedError({
    failureType,
    message: 'no such node',
    workflowId: 'task:a',
    requestId: 'r',
    details: {},
  });
}

describe('the exit code', () => {
  it.each<[string, unknown, number]>([
    ['help', new CommanderError(0, 'commander.helpDisplayed', ''), 0],
    ['a wrong option', new CommanderError(1, 'commander.unknownOption', ''), 2],
    ['a wrong configuration', new ConfigError(['LONGHAUL_ARCHIVE is not set']), 2],
    ['a wrong input', new InputInvalidError(['webAppId is 0']), 2],
    ['a row file that cannot be used', new RowFileError(['no header']), 2],
    ['a key that stands for another input', InputChangedError.ofTask('a', 'task:a', true), 2],
    ['an unknown task', new UnknownTaskError('task:a', 'default'), 2],
    ['a task that is over', new TaskOverError('task:a'), 2],
    ['a decision that does not apply', new DecisionRefusedError('task:a', 'no'), 2],
    ['a terminated workflow', taskFailed('WorkflowTerminated'), 5],
    ['a Temporal that limits requests', new TemporalBusyError('localhost:7233', 'limit'), 6],
    ['no Temporal', new TemporalUnreachableError('localhost:7233', 'refused'), 6],
    ['no access', new TemporalRefusedError('localhost:7233', 'no'), 6],
    ['no namespace', new NamespaceMissingError('default', 'localhost:7233'), 6],
    ['no search attributes', new SearchAttributesMissingError('default', 'no mapping'), 6],
    ['no worker', new NoWorkerError('task:a'), 6],
    ['a bug', new TypeError('x is not a function'), 1],
    ['what is not even an error', 'x', 1],
  ])('tells %s', (_, error, exitCode) => {
    expect(explainFailure(error).exitCode).toBe(exitCode);
  });

  it('comes with the type, the words and the task for people and for programs', () => {
    expect(explainFailure(taskFailed('TaskFailed'))).toEqual({
      exitCode: 3,
      message: 'task:a failed (TaskFailed): no such node',
      details: { type: 'TaskFailed', workflowId: 'task:a', requestId: 'r', details: {} },
    });
    expect(explainFailure(new InputInvalidError(['webAppId is 0'])).details).toEqual({
      type: 'InputInvalidError',
      problems: ['webAppId is 0'],
    });
  });

  it('shows where a bug is', () => {
    expect(explainFailure(new TypeError('x is not a function')).message).toMatch(/^Unexpected: TypeError: x .*\n +at /);
  });
});

describe('docs/reference/command-line.md', () => {
  const page = readFileSync(path.join(__dirname, '../../../docs/reference/command-line.md'), 'utf8');

  it('lists every exit code', () => {
    const listed = [...page.matchAll(/^\| *(\d+) *\|/gm)].map(([, code]) => Number(code));

    expect(listed).toEqual(Object.values(exitCodes));
  });
});

describe('docs/reference/errors.md', () => {
  const page = readFileSync(path.join(__dirname, '../../../docs/reference/errors.md'), 'utf8');

  it('explains every failure type, with the exit code that the command line gives it', () => {
    const listed = [...page.matchAll(/^\| `(\w+)` *\| *(\d) *\|/gm)].map(([, type, code]) => [type, Number(code)]);
    const expected = Object.values(failureTypes).map((type) => [type, explainFailure(taskFailed(type)).exitCode]);

    expect(listed).toEqual(expected);
  });
});
