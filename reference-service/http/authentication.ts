import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import './request-facts';
import { Refusal } from '../refusal';
import type { ServiceParts } from '../service-parts';

/** Asks every endpoint of the specification for `Authorization: Bearer <API_KEY>` (section 5). */
export function authenticateRequests(app: FastifyInstance, { config }: ServiceParts): void {
  // Looking up digests keeps the time of a comparison independent of how much of a key is right.
  const accountByDigest = new Map(config.accounts.map(({ id, apiKey }) => [digest(apiKey), id]));

  app.addHook('onRequest', (request, _reply, done) => {
    if (request.routeOptions.config.endpoint === undefined) {
      done();
      return;
    }
    const key = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
    if (key === undefined) throw new Refusal('keyMissing', 'the header Authorization: Bearer <API_KEY> is missing');
    const accountId = accountByDigest.get(digest(key));
    if (accountId === undefined) throw new Refusal('keyUnknown', 'the API key is not known');
    request.accountId = accountId;
    request.ledgerEntry.accountId = accountId;
    done();
  });
}

function digest(key: string): string {
  return createHash('sha256').update(key).digest('base64');
}
