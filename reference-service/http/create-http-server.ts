import fastify, { type FastifyInstance } from 'fastify';
import type { ServiceParts } from '../service-parts';
import { answerBadPaths, answerErrors } from './answer-errors';
import { authenticateRequests } from './authentication';
import { serveControl } from './control-routes';
import { limitRate } from './limit-rate';
import { misbehave } from './misbehave';
import { servePage } from './page-routes';
import { recordRequests } from './record-requests';
import { serveTasks } from './task-routes';
import { serveUploads } from './upload-routes';
import { serveUser } from './user-routes';

/** Largest request body; only create and commit have one, and neither is ever large. */
const BODY_LIMIT_BYTES = 1024 * 1024;

/** The service's HTTP server, not listening yet. */
export function createHttpServer(parts: ServiceParts): FastifyInstance {
  const app = fastify({
    bodyLimit: BODY_LIMIT_BYTES,
    forceCloseConnections: true,
    frameworkErrors: answerBadPaths(parts),
  });
  acceptEmptyJson(app);
  recordRequests(app, parts);
  misbehave(app, parts);
  authenticateRequests(app, parts);
  limitRate(app, parts);
  answerErrors(app, parts);
  serveTasks(app, parts);
  serveUploads(app, parts);
  serveUser(app, parts);
  serveControl(app, parts);
  servePage(app, parts);
  return app;
}

/** Cancel and interrupt have the content type JSON and no body (sections 4.4 and 4.5). */
function acceptEmptyJson(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body.length === 0) done(null, undefined);
    else void parseJson(request, String(body), done);
  });
}
