import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '../refusal';
import { findScenario } from '../scenarios/scenario';
import { parseScenarioHeader, type OrderedScenario } from '../scenarios/scenario-header';
import type { ServiceParts } from '../service-parts';
import { failure } from './envelope';
import './request-facts';

const FLUSH_MS = 30;

const RUBBISH = {
  html: ['text/html', '<html><body><h1>Under maintenance</h1></body></html>'],
  json: ['application/json', '{"unexpected":true}'],
  empty: ['application/json', ''],
} as const;

/** Makes requests misbehave: as their header `X-Reference-Scenario` says, or a rule in the scenario book. */
export function misbehave(app: FastifyInstance, { config, scenarios }: ServiceParts): void {
  app.decorateRequest('scenarios');
  app.decorateRequest('laterScenarios');

  // Set at once, for a request that is refused before its handler is answered through `onSend` all the same.
  app.addHook('onRequest', (request, _reply, done) => {
    request.scenarios = [];
    request.laterScenarios = [];
    done();
  });

  app.addHook('preHandler', async (request, reply) => {
    const { endpoint } = request.routeOptions.config;
    if (endpoint === undefined) return;
    const ordered = readOrders(request);
    request.laterScenarios = ordered.filter((order) => order.endpoint !== undefined);
    request.scenarios = [
      ...ordered.filter((order) => order.endpoint === undefined).map((order) => order.scenario),
      ...scenarios.take({
        endpoint,
        requestId: requestIdOf(request.query),
        correlation: request.ledgerEntry.correlation,
      }),
    ];
    if (findScenario(request.scenarios, 'drop-request') !== undefined) {
      cutConnection(request, reply);
      return;
    }
    const refuse = findScenario(request.scenarios, 'refuse');
    if (refuse !== undefined) {
      const waitSeconds = refuse.reason === 'rateLimited' ? (refuse.retryAfterSeconds ?? 1) : refuse.retryAfterSeconds;
      throw new Refusal(refuse.reason, 'refused on command', waitSeconds);
    }
  });

  app.addHook('onSend', async (request, reply, payload) => {
    const stall = findScenario(request.scenarios, 'stall');
    if (stall !== undefined) await waitBeforeReply(reply, stall.ms);
    if (findScenario(request.scenarios, 'drop-reply') !== undefined) {
      request.raw.socket.destroy();
      return payload;
    }
    const error = findScenario(request.scenarios, 'answer-error');
    if (error !== undefined) {
      reply.status(error.status);
      return JSON.stringify(failure(config.refusalCodes.internalError, 'failed on command'));
    }
    const rubbish = findScenario(request.scenarios, 'rubbish');
    if (rubbish !== undefined) {
      const [type, body] = RUBBISH[rubbish.as];
      reply.type(type);
      return body;
    }
    const isCut = findScenario(request.scenarios, 'cut-body') !== undefined;
    return isCut && typeof payload === 'string' ? cutBody(reply, payload) : payload;
  });
}

function readOrders(request: FastifyRequest): readonly OrderedScenario[] {
  const text = request.headers['x-reference-scenario'];
  if (typeof text !== 'string') return [];
  try {
    return parseScenarioHeader(text);
  } catch (error) {
    throw new Refusal('badParameter', `X-Reference-Scenario: ${error instanceof Error ? error.message : 'is wrong'}`);
  }
}

function requestIdOf(query: unknown): string | undefined {
  if (typeof query !== 'object' || query === null || !('requestId' in query)) return undefined;
  return typeof query.requestId === 'string' ? query.requestId : undefined;
}

function cutConnection(request: FastifyRequest, reply: FastifyReply): void {
  reply.hijack();
  request.raw.socket.destroy();
}

/** Waits for `ms`, or for ever, but no longer than a client waits for the reply. */
async function waitBeforeReply(reply: FastifyReply, ms: number | undefined): Promise<void> {
  const hangUp = new AbortController();
  reply.raw.once('close', () => {
    hangUp.abort();
  });
  if (reply.raw.destroyed) return;
  // A timer longer than this would fire at once.
  const longestMs = 2 ** 31 - 1;
  await delay(Math.min(ms ?? longestMs, longestMs), undefined, { signal: hangUp.signal }).catch(() => undefined);
}

/** Announces the whole body, sends half of it, and breaks off. */
function cutBody(reply: FastifyReply, payload: string): Readable {
  const bytes = Buffer.from(payload);
  reply.header('Content-Length', String(bytes.length));
  return Readable.from(
    (async function* () {
      yield bytes.subarray(0, Math.ceil(bytes.length / 2));
      // Lets the first half reach the wire before the connection is gone.
      await delay(FLUSH_MS);
      throw new Error('the body is cut on command');
    })(),
  );
}
