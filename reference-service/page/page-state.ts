import { z } from 'zod';
import type { Graph } from '../apps/graph';
import { type ParameterSchema, type ParameterValue, resourceParameter } from '../nodes/parameters';
import type { ServiceParts } from '../service-parts';
import { formatTimestamp } from '../timestamp';
import type { Task, TaskStatus } from '../tasks/task';

/** Tasks that the page shows, newest first. */
const SHOWN_TASKS = 60;
const SHOWN_UPLOADS = 30;

/** An input of an app, as a create may set it. */
interface AppInput {
  readonly key: string;
  /** Null for one that every create has to say: a committed upload. */
  readonly byDefault: ParameterValue | null;
  /** What it may be, for a person. */
  readonly limits: string;
}

/** A task as the page shows it. */
interface TaskState {
  readonly requestId: string;
  readonly webAppId: number;
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
    inputs: readonly AppInput[];
  }[];
  /** Committed uploads of all accounts, newest first. */
  readonly uploads: readonly { id: number; name: string }[];
  readonly tasks: readonly TaskState[];
}

/** What is going on at this moment. */
export function pageState({ apps, config, ledger, resources, scheduler, tasks }: ServiceParts): PageState {
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
      inputs: appInputs(graph),
    })),
    uploads: resources.newest(SHOWN_UPLOADS).map(({ id, name }) => ({ id, name })),
    tasks: newest.reverse().map((task) => taskState(task, scheduler.countAhead(task))),
  };
}

function appInputs(graph: Graph): AppInput[] {
  return [...graph.values()].flatMap(({ id, nodeClass, values }) =>
    Object.entries(values).map(([name, value]) => {
      const schema = nodeClass.parameters[name];
      const isUpload = schema === resourceParameter;
      return {
        key: `${id}:${nodeClass.className}.${name}`,
        byDefault: isUpload ? null : value,
        limits: schema === undefined ? '' : isUpload ? 'the url, id or name of an upload' : limitsOf(schema),
      };
    }),
  );
}

const limitsSchema = z.object({
  type: z.string(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  maxLength: z.number().optional(),
  pattern: z.string().optional(),
  enum: z.array(z.string()).optional(),
});

/** What a parameter may be, in words, from its own schema. */
function limitsOf(schema: ParameterSchema): string {
  const { type, minimum, maximum, maxLength, pattern, enum: choices } = limitsSchema.parse(z.toJSONSchema(schema));
  if (choices !== undefined) return choices.join(', ');
  if (type === 'string')
    return pattern === undefined ? `text, ${maxLength ?? 0} characters at most` : 'a color, #rrggbb';
  return `${type === 'integer' ? 'a whole number' : 'a number'}, ${minimum ?? ''} to ${maximum ?? ''}`;
}

function taskState(task: Task, countAhead: number): TaskState {
  return {
    requestId: task.requestId,
    webAppId: task.request.app.webAppId,
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
