import type { FastifyInstance } from 'fastify';
import './request-facts';
import type { ServiceParts } from '../service-parts';

/** Enters every request in the ledger and logs its answer; neither sees a header that could hold a secret. */
export function recordRequests(app: FastifyInstance, { ledger, logger }: ServiceParts): void {
  app.decorateRequest('ledgerEntry');
  app.decorateRequest('accountId', '');

  app.addHook('onRequest', (request, _reply, done) => {
    const [path = ''] = request.url.split('?');
    const { endpoint } = request.routeOptions.config;
    request.ledgerEntry = ledger.open({ method: request.method, path, endpoint });
    const correlation = request.headers['x-svc-task-correlation'];
    if (typeof correlation === 'string') request.ledgerEntry.correlation = correlation;
    done();
  });

  app.addHook('onResponse', (request, reply, done) => {
    const entry = request.ledgerEntry;
    // A reply that was cut short was not received.
    if (reply.raw.writableFinished) entry.status = reply.statusCode;
    const level = reply.statusCode >= 500 ? 'warn' : entry.method === 'GET' ? 'debug' : 'info';
    logger[level](
      { endpoint: entry.endpoint, status: entry.status, requestId: entry.requestId, accountId: entry.accountId },
      `${entry.method} ${entry.path}`,
    );
    done();
  });
}
