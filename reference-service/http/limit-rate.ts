import type { FastifyInstance } from 'fastify';
import { Refusal } from '../refusal';
import type { ServiceParts } from '../service-parts';
import './request-facts';

/** What is left of an account's allowance, as of a moment. */
interface Allowance {
  requests: number;
  atMs: number;
}

/** Refuses what goes beyond `rateLimit`, per account: a burst at once, then so many requests a second. */
export function limitRate(app: FastifyInstance, { config }: ServiceParts): void {
  const limit = config.rateLimit;
  if (limit === undefined) return;
  const allowances = new Map<string, Allowance>();

  app.addHook('onRequest', (request, _reply, done) => {
    if (request.routeOptions.config.endpoint === undefined) {
      done();
      return;
    }
    const nowMs = Date.now();
    const allowance = allowances.get(request.accountId) ?? { requests: limit.burst, atMs: nowMs };
    allowances.set(request.accountId, allowance);
    const earned = ((nowMs - allowance.atMs) / 1000) * limit.perSecond;
    allowance.requests = Math.min(limit.burst, allowance.requests + earned);
    allowance.atMs = nowMs;
    if (allowance.requests < 1) {
      const waitSeconds = Math.ceil((1 - allowance.requests) / limit.perSecond);
      throw new Refusal('rateLimited', `more than ${limit.perSecond} requests a second`, waitSeconds);
    }
    allowance.requests -= 1;
    done();
  });
}
