import { timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { ENDPOINT_NAMES } from '../endpoint-name';
import { Refusal } from '../refusal';
import { parseScenarioHeader } from '../scenarios/scenario-header';
import type { ServiceParts } from '../service-parts';
import type { Task } from '../tasks/task';
import { success } from './envelope';
import { parseRequest } from './parse-request';

const CONTROL_PATH = '/__control';

const ledgerQuery = z.strictObject({
  endpoint: z.enum(ENDPOINT_NAMES).optional(),
  requestId: z.string().optional(),
  correlation: z.string().optional(),
  accountId: z.string().optional(),
  objectKey: z.string().optional(),
  webAppId: z.coerce.number().optional(),
  status: z.coerce.number().optional(),
});
const ruleBody = z.strictObject({
  endpoint: z.enum(ENDPOINT_NAMES),
  /** As in the header: `name;parameter=value`. */
  scenario: z.string(),
  /** How many requests; null for all that come. */
  times: z.int().min(1).nullable().default(1),
  requestId: z.string().optional(),
  correlation: z.string().optional(),
});
const resourcePath = z.object({ resourceId: z.coerce.number().int() });
const taskPath = z.object({ requestId: z.string() });
const failBody = z
  .object({ message: z.string().default('failed on command') })
  .default({ message: 'failed on command' });

/** The controls of tests and demonstrations, for who has the control token; not there at all without one. */
export function serveControl(app: FastifyInstance, parts: ServiceParts): void {
  const { authority, config, ledger, resources, scenarios, scheduler, tasks } = parts;
  const { controlToken } = config;
  if (controlToken === undefined) return;

  const anyTask = (params: unknown): Task => {
    const task = tasks.find(parseRequest(taskPath, params).requestId);
    if (task === undefined) throw new Refusal('taskNotFound', 'there is no task with this requestId');
    return task;
  };

  app.register(
    (control, _options, registered) => {
      control.addHook('onRequest', (request, _reply, done) => {
        if (!isBearer(request.headers.authorization, controlToken)) {
          throw new Refusal('keyUnknown', 'the control token is missing or wrong');
        }
        done();
      });

      control.get('/ledger', (request) => {
        return success({ entries: ledger.entries(parseRequest(ledgerQuery, request.query)) });
      });

      control.post('/scenarios', (request) => {
        addRules(scenarios, parseRequest(ruleBody, request.body));
        return success(null);
      });

      control.delete('/scenarios', () => {
        scenarios.clear();
        return success(null);
      });

      control.post('/tasks/:requestId/release', (request) => {
        scheduler.release(anyTask(request.params));
        return success(null);
      });

      control.post('/tasks/:requestId/fail', (request) => {
        scheduler.fail(anyTask(request.params), parseRequest(failBody, request.body).message);
        return success(null);
      });

      control.delete('/resources/:resourceId', (request) => {
        const { resourceId } = parseRequest(resourcePath, request.params);
        if (resources.remove(resourceId)) return success(null);
        throw new Refusal('objectNotFound', 'there is no input resource with this id');
      });

      control.post('/credentials/expire', () => {
        authority.expireAll();
        return success(null);
      });
      registered();
    },
    { prefix: CONTROL_PATH },
  );
}

function addRules(scenarios: ServiceParts['scenarios'], body: z.infer<typeof ruleBody>): void {
  const { scenario, times, endpoint, requestId, correlation } = body;
  for (const ordered of readScenarios(scenario)) {
    scenarios.add({
      endpoint,
      scenario: ordered,
      times: times ?? Number.POSITIVE_INFINITY,
      ...(requestId !== undefined && { requestId }),
      ...(correlation !== undefined && { correlation }),
    });
  }
}

function readScenarios(text: string): ReturnType<typeof parseScenarioHeader>[number]['scenario'][] {
  try {
    return parseScenarioHeader(text).map(({ scenario }) => scenario);
  } catch (error) {
    throw new Refusal('badParameter', error instanceof Error ? error.message : 'the scenario is wrong');
  }
}

function isBearer(header: string | undefined, token: string): boolean {
  const given = Buffer.from(header ?? '');
  const expected = Buffer.from(`Bearer ${token}`);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
