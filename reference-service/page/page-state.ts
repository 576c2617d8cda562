import type { Graph } from '../apps/graph';
import type { ServiceParts } from '../service-parts';
import { formatTimestamp } from '../timestamp';
import type { Task, TaskStatus } from '../tasks/task';

/** Tasks that the page shows, newest first. */
const SHOWN_TASKS = 60;

/** A task as the page shows it. */
interface TaskState {
  readonly requestId: string;
  readonly app: string;
  readonly status: TaskStatus;
  readonly countAhead: number | undefined;
  readonly createdAt: string;
  readonly elapsedMs: number;
  readonly error: string | undefined;
  readonly pictures: readonly string[];
  readonly callbacks: readonly (number | string)[];
}

/** Everything on the page: no key, no link, no header of a client. */
export interface PageState {
  readonly counts: Readonly<Record<TaskStatus, number>>;
  readonly slots: number;
  readonly requests: Readonly<Record<string, number>>;
  readonly apps: readonly {
    webAppId: number;
    name: string;
    description: string;
    nodes: readonly string[];
    inputs: readonly string[];
  }[];
  readonly tasks: readonly TaskState[];
}

/** What is going on at this moment. */
export function pageState({ apps, config, ledger, scheduler, tasks }: ServiceParts): PageState {
  const counts = { Queuing: 0, Preparing: 0, Running: 0, Success: 0, Failed: 0, Canceled: 0 };
  const newest: Task[] = [];
  for (const task of tasks.all()) {
    counts[task.status] += 1;
    newest.push(task);
    if (newest.length > SHOWN_TASKS) newest.shift();
  }
  return {
    counts,
    slots: config.slots,
    requests: { create: ledger.total('create'), detail: ledger.total('detail'), outputs: ledger.total('outputs') },
    apps: [...apps.values()].map(({ webAppId, name, description, graph }) => ({
      webAppId,
      name,
      description,
      nodes: [...graph.values()].map((node) => node.nodeClass.className),
      inputs: inputKeys(graph),
    })),
    tasks: newest.reverse().map((task) => taskState(task, scheduler.countAhead(task))),
  };
}

function inputKeys(graph: Graph): string[] {
  return [...graph.values()].flatMap((node) =>
    Object.keys(node.values).map((name) => `${node.id}:${node.nodeClass.className}.${name}`),
  );
}

function taskState(task: Task, countAhead: number): TaskState {
  return {
    requestId: task.requestId,
    app: task.request.app.name,
    status: task.status,
    countAhead: task.status === 'Queuing' ? countAhead : undefined,
    createdAt: formatTimestamp(task.createdAtMs),
    elapsedMs: (task.endedAtMs ?? Date.now()) - task.createdAtMs,
    error: task.errorMessage,
    pictures: task.outputs.map((_output, index) => `/page/pictures/${task.requestId}/${index + 1}`),
    callbacks: task.callbackAttempts.map(({ outcome }) => outcome),
  };
}
