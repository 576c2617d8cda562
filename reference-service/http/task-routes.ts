import type { FastifyInstance, FastifyRequest } from 'fastify';
import { findScenario } from '../scenarios/scenario';
import type { ServiceParts } from '../service-parts';
import type { Task } from '../tasks/task';
import { detailView } from '../tasks/task-view';
import { serveCreate } from './create-route';
import { success } from './envelope';
import { parseRequest, requestIdQuery } from './parse-request';
import './request-facts';

const TASK_PATH = '/w/v1/webapp/task/openapi';

/** Create, detail, outputs, cancel and interrupt (sections 4.1 to 4.5). */
export function serveTasks(app: FastifyInstance, parts: ServiceParts): void {
  const { config, scheduler, show, tasks } = parts;

  /** The task that the query asks about. Throws a Refusal when there is none for this account. */
  const askedTask = (request: FastifyRequest): Task => {
    const { requestId } = parseRequest(requestIdQuery, request.query);
    request.ledgerEntry.requestId = requestId;
    return tasks.get(requestId, request.accountId);
  };

  serveCreate(app, `${TASK_PATH}/create`, parts);

  app.get(`${TASK_PATH}/detail`, { config: { endpoint: 'detail' } }, (request) => {
    const task = askedTask(request);
    const detail = detailView(task, {
      expiresAtMs: tasks.expiresAtMs(task),
      countAhead: scheduler.countAhead(task),
    });
    const oddStatus = findScenario(request.scenarios, 'odd-status');
    return success(oddStatus === undefined ? detail : { ...detail, status: oddStatus.value });
  });

  app.get(`${TASK_PATH}/outputs`, { config: { endpoint: 'outputs' } }, async (request) => {
    const task = askedTask(request);
    const isEmpty = findScenario(request.scenarios, 'no-outputs') !== undefined;
    const expired = findScenario(request.scenarios, 'expired-links') !== undefined;
    const outputs = isEmpty ? [] : await show.outputs(task, 'query', { expired });
    return success({ request_id: task.requestId, status: task.status, outputs });
  });

  app.put(`${TASK_PATH}/cancel`, { config: { endpoint: 'cancel' } }, (request) => {
    scheduler.cancel(askedTask(request));
    return success(null);
  });

  app.put(`${TASK_PATH}/interrupt`, { config: { endpoint: 'interrupt' } }, (request) => {
    scheduler.interrupt(askedTask(request), config.interruptEndsAs);
    return success(null);
  });
}
