import { LonghaulError } from '../../client/errors';
import { eachView } from '../../client/task/task-events';
import type { TaskHandle } from '../../client/task/task-handle';
import type { TaskView } from '../../client/task/task-view';
import type { TaskResult } from '../../contract/task-result';
import { asksForPerson, problemText } from '../../contract/problem';
import { taskCommands } from '../../contract/task-advice';
import {
  type CommandContext,
  type ConnectionOptions,
  type Output,
  print,
  printJson,
  untilStarted,
  warnOfMissingWorkers,
} from '../command-context';
import { exitCodes } from '../exit-code';
import { choiceLines, formatDetails, formatState, resultText, statusLine, statusText, transferLine } from './task-text';
import { fit, TerminalLines } from '../terminal';

export interface FinishStartOptions extends ConnectionOptions {
  readonly detach?: true;
  readonly json?: true;
}

/** Prints whether the task was started or attached to; follows it to its end, unless detached. */
export async function startAndFollow(
  context: CommandContext,
  start: () => Promise<TaskHandle>,
  { detach, json, taskQueue }: FinishStartOptions,
): Promise<void> {
  const { started: task, isInterrupted } = await untilStarted(context, start);
  const { workflowId, origin, url, withoutEffect } = task;
  const what = origin === 'started' ? 'Started' : 'Following, for it exists already:';
  context.stderr.write(`${what} ${workflowId}\n${url === null ? '' : `  ${url}\n`}`);
  if (withoutEffect.length > 0) {
    context.stderr.write(`  It keeps what it was started with: ${withoutEffect.join(', ')} have no effect now.\n`);
  }
  if (detach !== true) {
    if (isInterrupted) tellDetached(context, task, json ?? false);
    else await followToTheEnd(context, task, json ?? false);
    return;
  }
  // After attaching, the task's view tells it.
  if (origin === 'started') await warnOfMissingWorkers(context, [taskQueue]);
  print(context, json, { workflowId, origin, url, withoutEffect }, `${workflowId}\n`);
}

/** Prints the result and sets the exit code; says how to go on when the task has not ended. */
export async function followToTheEnd(context: CommandContext, task: TaskHandle, json: boolean): Promise<void> {
  const followed = await follow(context, task);
  switch (followed.kind) {
    case 'ended': {
      const { result } = followed;
      print(context, json, result, `${resultText(result)}\n`);
      if (result.status !== 'Success') context.exitWith(exitCodes.canceled);
      else if (result.failedOutputCount > 0) context.exitWith(exitCodes.outputsFailed);
      break;
    }
    case 'detached':
      tellDetached(context, task, json);
      break;
    case 'parked':
      context.stderr.write(parkedText(followed.view));
      print(context, json, followed.view, `${statusText(followed.view, Date.now())}\n`);
      context.exitWith(exitCodes.needsPerson);
      break;
  }
}

function tellDetached(context: CommandContext, { workflowId }: TaskHandle, json: boolean): void {
  context.stderr.write(
    `Detached: the task ${workflowId} goes on without this command.\n` +
      `  follow it: ${taskCommands.follow(workflowId)}\n` +
      `  stop it:   ${taskCommands.end(workflowId, 'stop')}\n`,
  );
  if (json) printJson(context, { workflowId, detached: true });
  context.exitWith(exitCodes.detached);
}

function parkedText({ workflowId, status, problem }: TaskView): string {
  if (problem !== null && problem.code !== 'NeedsPerson') {
    const how = problem.code === 'Stuck' ? 'is stuck' : 'is paused';
    return `The task ${workflowId} ${how}. ${problemText(problem)}\n`;
  }
  const what =
    status === 'CreateUncertain'
      ? 'It is uncertain whether the service created the task, and Longhaul does not risk paying twice. Decide:'
      : 'The task succeeded, but not every output could be archived. Decide while the service still has them:';
  return [what, ...choiceLines(status, workflowId), 'The task waits for that.', ''].join('\n');
}

type Followed =
  | { readonly kind: 'ended'; readonly result: TaskResult }
  /** Ctrl-C: the task goes on. */
  | { readonly kind: 'detached' }
  /** The task waits for a person, is stuck or paused. */
  | { readonly kind: 'parked'; readonly view: TaskView };

/** A policy or a callback may resolve an uncertain create; afterwards it waits for a person. */
const parkedAfterMs = 5_000;

/** Throws as `result` does. A failure to show the progress does not end the wait. */
async function follow(context: CommandContext, task: TaskHandle): Promise<Followed> {
  const progress = openProgress(context.display);
  const watching = new AbortController();
  let stopListening: () => void = () => undefined;
  const detached = new Promise<Followed>((resolve) => {
    stopListening = context.onInterrupt(() => {
      resolve({ kind: 'detached' });
    });
  });
  const ended = task.result({ signal: watching.signal }).then((result): Followed => ({ kind: 'ended', result }));
  try {
    return await Promise.race([ended, detached, showUntilParked(task, progress, watching.signal)]);
  } finally {
    watching.abort();
    stopListening();
    progress.stop();
    // After a detach, neither its failure nor the abort of the wait is reported.
    ended.catch(() => undefined);
  }
}

/** Resolves once the task has waited for a person for a while, else never. */
async function showUntilParked(task: TaskHandle, progress: Progress, signal: AbortSignal): Promise<Followed> {
  let parkedSinceMs: number | undefined;
  try {
    for await (const view of eachView(task, { signal, quietEveryMs: 0 })) {
      progress.show(view);
      parkedSinceMs = asksForPerson(view.problem) ? (parkedSinceMs ?? Date.now()) : undefined;
      if (parkedSinceMs !== undefined && Date.now() - parkedSinceMs >= parkedAfterMs) return { kind: 'parked', view };
    }
  } catch (error) {
    if (!(error instanceof LonghaulError) && !signal.aborted) throw error;
  }
  // The race is decided by the result.
  return new Promise(() => undefined);
}

export interface Progress {
  show(view: TaskView): void;
  stop(): void;
}

const longestLine = 500;

/** On a terminal a redrawn line for the task and each transfer, else one per change. @internal exported for tests */
export function openProgress(stream: Output & NodeJS.WritableStream, now: () => number = Date.now): Progress {
  const lineOf = (view: TaskView, nowMs: number): string => {
    const endMs = view.endedAt === null ? nowMs : Date.parse(view.endedAt);
    return statusLine(view, endMs - Date.parse(view.startedAt));
  };
  if (stream.isTTY === true) {
    const lines = new TerminalLines(stream, now);
    return {
      show: (view) => {
        const transfers = view.transfers.map((transfer) => () => transferLine(transfer));
        lines.show([(nowMs) => lineOf(view, nowMs), ...transfers]);
      },
      stop: () => {
        lines.stop();
      },
    };
  }
  const write = (line: string): unknown => stream.write(`${fit(line, longestLine)}\n`);
  const shown = new Set<string>();
  let last = '';
  return {
    show: (view) => {
      const state = [formatState(view), ...formatDetails(view)].join(' · ');
      if (state !== last) write(lineOf(view, now()));
      last = state;
      for (const transfer of view.transfers) {
        const key = `${transfer.transfer} ${transfer.name}`;
        if (!shown.has(key)) write(transferLine(transfer));
        shown.add(key);
      }
    },
    stop: () => undefined,
  };
}
