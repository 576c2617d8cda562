import type { FastifyInstance } from 'fastify';
import type { ServiceParts } from '../service-parts';
import { success } from './envelope';
import './request-facts';

/** User metadata (section 4.9). Its fields are not shown there: these are a decision. */
export function serveUser(app: FastifyInstance, { config }: ServiceParts): void {
  const names = new Map(config.accounts.map(({ id, name }) => [id, name ?? id]));

  app.get('/x/v1/user/metadata', { config: { endpoint: 'user-metadata' } }, (request) =>
    success({ id: request.accountId, name: names.get(request.accountId) }),
  );
}
