import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { applyOverrides } from '../apps/overrides';
import { readCallbackOrder } from '../callbacks/callback-order';
import { Refusal } from '../refusal';
import { resourceResolver } from '../resources/resolve-resource';
import type { ServiceParts } from '../service-parts';
import { Task, type TaskRequest } from '../tasks/task';
import { success } from './envelope';
import { parseRequest } from './parse-request';
import './request-facts';

const createBody = z.object(
  {
    web_app_id: z.int('must be an integer'),
    suppress_preview_output: z.boolean('must be true or false').default(false),
    input_values: z.record(z.string(), z.union([z.string(), z.number()], 'must be a string or a number'), {
      error: (issue) => (issue.code === 'invalid_type' ? 'must be an object' : undefined),
    }),
  },
  'must be a JSON object',
);

/** Create in its three modes (sections 1 and 4.1): callback before asynchronous before synchronous. */
export function serveCreate(app: FastifyInstance, path: string, parts: ServiceParts): void {
  app.post(path, { config: { endpoint: 'create' } }, async (request, reply) => {
    const body = parseRequest(createBody, request.body);
    request.ledgerEntry.webAppId = body.web_app_id;
    const callback = readCallbackOrder(request.headers, request.raw.rawHeaders);
    const task = acceptTask(parts, request, body, callback);
    if (callback !== undefined || request.headers['x-svc-task-async'] === 'enable') {
      return reply.status(202).send({ requestId: task.requestId });
    }
    await task.whenEnded;
    return reply.send(success(await parts.show.result(task, 'query')));
  });
}

/** Checks a create request wholly before anything exists of it, then queues the task. */
function acceptTask(
  parts: ServiceParts,
  request: FastifyRequest,
  body: z.output<typeof createBody>,
  callback: TaskRequest['callback'],
): Task {
  const { apps, callbacks, config, resources, scenarios, scheduler, tasks } = parts;
  const { accountId } = request;
  const app = apps.get(body.web_app_id);
  if (app === undefined) throw new Refusal('appNotFound', `there is no app with the web_app_id ${body.web_app_id}`);
  const graph = applyOverrides(app.graph, body.input_values, resourceResolver(resources, accountId, config.bucket));
  scheduler.checkRoom();
  const task = new Task({
    accountId,
    app,
    graph,
    suppressesPreviews: body.suppress_preview_output,
    scenarios: request.scenarios,
    ...(callback !== undefined && { callback }),
  });
  request.ledgerEntry.requestId = task.requestId;
  for (const { endpoint, scenario, times } of request.laterScenarios) {
    if (endpoint !== undefined) scenarios.add({ endpoint, scenario, times, requestId: task.requestId });
  }
  tasks.add(task);
  callbacks.follow(task);
  scheduler.add(task);
  return task;
}
