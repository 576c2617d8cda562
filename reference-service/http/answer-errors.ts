import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '../refusal';
import type { ServiceParts } from '../service-parts';
import { failure } from './envelope';

/** Turns everything that is thrown in a request into an envelope. */
export function answerErrors(app: FastifyInstance, { config, logger }: ServiceParts): void {
  app.setErrorHandler((error: FastifyError | Error, request, reply) => {
    const refusal = error instanceof Refusal ? error : refusalOf(error);
    const code = config.refusalCodes[refusal.reason];
    if (refusal.reason === 'internalError')
      logger.error({ err: error, path: request.ledgerEntry.path }, 'request failed');
    if (refusal.retryAfterSeconds !== undefined) reply.header('Retry-After', String(refusal.retryAfterSeconds));
    return reply.status(code.httpStatus).send(failure(code, refusal.message));
  });

  app.setNotFoundHandler((request) => {
    throw new Refusal('routeNotFound', `there is no ${request.method} ${request.ledgerEntry.path}`);
  });
}

/** Answers what has no route because its path is no URL, such as one with a percent sign that encodes nothing. */
export function answerBadPaths({
  config,
}: ServiceParts): (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => void {
  return (_error: FastifyError, _request: FastifyRequest, reply: FastifyReply): void => {
    const code = config.refusalCodes.badParameter;
    void reply.status(code.httpStatus).send(failure(code, 'the path is not a valid URL'));
  };
}

/** Fastify's own errors (a body that is no JSON, too large, of another type) are the caller's; the rest is ours. */
function refusalOf(error: FastifyError | Error): Refusal {
  const status = 'statusCode' in error ? error.statusCode : undefined;
  return status !== undefined && status >= 400 && status < 500
    ? new Refusal('badParameter', error.message)
    : new Refusal('internalError', 'the service failed to answer this request');
}
