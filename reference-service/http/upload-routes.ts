import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { Refusal } from '../refusal';
import { inputExtension } from '../resources/input-extension';
import type { InputResource } from '../resources/resource-book';
import { findScenario } from '../scenarios/scenario';
import type { ServiceParts } from '../service-parts';
import { success } from './envelope';
import { parseRequest } from './parse-request';
import './request-facts';

/** Far enough in the past for any clock. */
const LONG_AGO_MS = 3_600_000;

const fileName = z.string('is required').min(1, 'must not be empty').max(255, 'must have at most 255 characters');
const tokenQuery = z.object({ file_name: fileName, file_type: z.literal('inputs', 'must be inputs') });
const commitBody = z.object({ name: fileName, object_key: z.string('is required').min(1, 'must not be empty') });

/** Upload token, commit and list (sections 4.6 to 4.8). */
export function serveUploads(app: FastifyInstance, parts: ServiceParts): void {
  const { authority, config, resources, storage } = parts;

  app.get('/x/v1/upload/token', { config: { endpoint: 'upload-token' } }, (request) => {
    const query = parseRequest(tokenQuery, request.query);
    const objectKey = resources.reserve(request.accountId, inputExtension(query.file_name));
    request.ledgerEntry.objectKey = objectKey;
    const isExpired = findScenario(request.scenarios, 'expired-credentials') !== undefined;
    const lifetimeMs = isExpired ? 0 : config.credentialLifetimeMs;
    const credentials = authority.mint({ bucket: config.bucket, objectKey, lifetimeMs });
    return success({
      file: {
        object_key: objectKey,
        access_key_id: credentials.accessKeyId,
        access_key_secret: credentials.accessKeySecret,
        security_token: credentials.securityToken,
      },
      storage: {
        endpoint: config.endpointForm === 'url' ? `http://${storage.virtualDomain}` : storage.virtualDomain,
        bucket: config.bucket,
        region: config.region,
      },
    });
  });

  app.post('/x/v1/input_resource/commit', { config: { endpoint: 'commit' } }, async (request) => {
    const body = parseRequest(commitBody, request.body);
    request.ledgerEntry.objectKey = body.object_key;
    const resource = await commit(parts, request.accountId, body);
    return success(await resourceView(parts, resource, linkSigningTime(request, config.linkLifetimeMs)));
  });

  const listQuery = z.object({
    current: z.coerce
      .number('must be a number')
      .pipe(z.int('must be a whole number').min(1, 'must be at least 1'))
      .default(1),
    page_size: z.coerce
      .number('must be a number')
      .pipe(
        z
          .int('must be a whole number')
          .min(1, 'must be at least 1')
          .max(config.pageSize.max, `must be at most ${config.pageSize.max}`),
      )
      .default(config.pageSize.byDefault),
    ext: z.string().min(1, 'must not be empty').optional(),
    object_key: z.string().min(1, 'must not be empty').optional(),
  });

  app.get('/x/v1/input_resource', { config: { endpoint: 'list' } }, async (request) => {
    const query = parseRequest(listQuery, request.query);
    if (query.object_key !== undefined) request.ledgerEntry.objectKey = query.object_key;
    const filter = { ext: query.ext?.toLowerCase().replace(/^\.?/, '.'), objectKey: query.object_key };
    const { resources: page, total } = resources.list(request.accountId, filter, query.current, query.page_size);
    const signedAt = linkSigningTime(request, config.linkLifetimeMs);
    const list = await Promise.all(page.map((resource) => resourceView(parts, resource, signedAt)));
    return success({ list, total, current: query.current, page_size: query.page_size });
  });
}

async function commit(
  { authority, config, resources, store }: ServiceParts,
  accountId: string,
  { name, object_key }: z.output<typeof commitBody>,
): Promise<InputResource> {
  inputExtension(name);
  const known = resources.findByObjectKey(object_key, accountId);
  if (known !== undefined) return known;
  if (!resources.isReserved(object_key, accountId)) {
    throw new Refusal('badParameter', 'object_key: was not handed out by an upload token of this account');
  }
  const sizeBytes = await store.sizeBytes(object_key);
  if (sizeBytes === undefined) throw new Refusal('objectNotFound', 'object_key: nothing has been uploaded there');
  if (sizeBytes > config.maxInputBytes) {
    throw new Refusal('badParameter', `the file has ${sizeBytes} bytes; at most ${config.maxInputBytes} are accepted`);
  }
  // From here on the file must not be replaced.
  authority.revoke(object_key);
  return resources.commit(accountId, name, object_key);
}

async function resourceView(
  { config, store }: ServiceParts,
  resource: InputResource,
  signedAt: Date,
): Promise<Record<string, unknown>> {
  return {
    id: resource.id,
    name: resource.name,
    ext: resource.ext,
    url: await store.link(resource.objectKey, config.linkLifetimeMs, signedAt),
  };
}

/** Now, or on command so long ago that a link is expired from the first. */
function linkSigningTime(request: FastifyRequest, lifetimeMs: number): Date {
  const isExpired = findScenario(request.scenarios, 'expired-links') !== undefined;
  return new Date(Date.now() - (isExpired ? lifetimeMs + LONG_AGO_MS : 0));
}
