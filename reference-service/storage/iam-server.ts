import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fastify, { type FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { CredentialAuthority, IdentityProblem } from './credential-authority';

/** Protocol that the pinned S3 server (versitygw v1.8.0) speaks with its identity service. */
const IAM_PROTOCOL = 1;
/** Header with the protocol's number; the S3 server sends it and refuses an answer without it. */
const IAM_PROTOCOL_HEADER = 'X-Vgw-Private-Protocol';

const ACCOUNT_ID = '000000000000';

const identityQuestion = z.object({ accessKeyIds: z.array(z.string()) });
const signingKeyQuestion = z.object({
  accessKeyId: z.string(),
  sessionToken: z.string().optional(),
  date: z.string(),
  region: z.string(),
  service: z.string(),
});
const policyQuestion = z.object({
  accessKeyId: z.string(),
  sessionToken: z.string().optional(),
  actions: z.array(z.string()),
  resources: z.array(z.string()),
});

/** The identity service of the S3 server, on a unix socket in a folder that only this user can enter. */
export interface IamServer {
  readonly socketPath: string;
  stop(): Promise<void>;
}

/** Serves the S3 server's identity questions from `authority`. */
export async function startIamServer(authority: CredentialAuthority): Promise<IamServer> {
  const folder = await mkdtemp(join(tmpdir(), 'reference-iam-'));
  const socketPath = join(folder, 'iam.sock');
  const server = createIamServer(authority);
  await server.listen({ path: socketPath });
  return {
    socketPath,
    async stop() {
      await server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function createIamServer(authority: CredentialAuthority): FastifyInstance {
  const server = fastify({ forceCloseConnections: true });

  server.addHook('onRequest', async (request, reply) => {
    reply.header(IAM_PROTOCOL_HEADER, String(IAM_PROTOCOL));
    const asked = request.headers[IAM_PROTOCOL_HEADER.toLowerCase()];
    if (asked !== String(IAM_PROTOCOL)) {
      await reply.status(400).send({ code: 'ProtocolMismatch', error: `expected protocol ${IAM_PROTOCOL}` });
    }
  });

  server.post('/private/version', () => ({
    protocol: IAM_PROTOCOL,
    minClient: IAM_PROTOCOL,
    serverVersion: 'reference-service',
    accountId: ACCOUNT_ID,
  }));

  server.post('/private/resolve-identity', (request) => {
    const { accessKeyIds } = identityQuestion.parse(request.body);
    return {
      identities: accessKeyIds.map((id) => (authority.knows(id) ? { found: true, kind: 'session' } : { found: false })),
    };
  });

  server.post('/private/derive-signing-key', async (request, reply) => {
    const { accessKeyId, sessionToken, ...scope } = signingKeyQuestion.parse(request.body);
    const key = authority.signingKey(accessKeyId, sessionToken, scope);
    if (typeof key === 'string') return reply.status(403).send(problem(key));
    return {
      derivedKey: key.toString('base64'),
      principalArn: `arn:aws:sts::${ACCOUNT_ID}:assumed-role/upload/${accessKeyId}`,
      roleArn: `arn:aws:iam::${ACCOUNT_ID}:role/upload`,
    };
  });

  server.post('/private/evaluate-policy', async (request, reply) => {
    const { accessKeyId, sessionToken, actions, resources } = policyQuestion.parse(request.body);
    const decisions = resources.map((resource) =>
      actions.map((action) => authority.decide(accessKeyId, sessionToken, action, resource)),
    );
    const refused = decisions.flat().find((decision) => decision === 'NoSuchIdentity' || decision === 'InvalidToken');
    if (refused !== undefined) return reply.status(403).send(problem(refused));
    return { decisions };
  });

  return server;
}

function problem(code: IdentityProblem): { code: IdentityProblem; error: string } {
  return { code, error: 'the credentials are unknown, altered or expired' };
}
