import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** Temporary credentials for exactly one object (specification section 2.6). */
export interface TemporaryCredentials {
  readonly accessKeyId: string;
  readonly accessKeySecret: string;
  readonly securityToken: string;
}

/** What one set of temporary credentials may do, and until when. */
interface Session extends TemporaryCredentials {
  readonly bucket: string;
  readonly objectKey: string;
  expiresAtMs: number;
}

/** Why a pair of access key and token is not accepted; the S3 server turns it into its own error code. */
export type IdentityProblem = 'NoSuchIdentity' | 'InvalidToken';

/** The three verdicts of the S3 server's policy protocol. */
export type PolicyDecision = 'allow' | 'deny' | 'no_match';

/** The part of SigV4's credential scope that a signing key is derived from. */
export interface SigningScope {
  readonly date: string;
  readonly region: string;
  readonly service: string;
}

const UPLOAD_ACTIONS: ReadonlySet<string> = new Set([
  's3:PutObject',
  's3:AbortMultipartUpload',
  's3:ListMultipartUploadParts',
]);

/** Expired sessions are kept this long, so that their holder gets "invalid token" and not "unknown key". */
const EXPIRED_MEMORY_MS = 10 * 60_000;

/** Mints temporary upload credentials and answers for them. Secrets stay in this object's memory. */
export class CredentialAuthority {
  readonly #sessions = new Map<string, Session>();
  readonly #sessionsByObject = new Map<string, Session>();

  /** Credentials that may write `objectKey` in `bucket`, and nothing else, for `lifetimeMs`. */
  mint(grant: { bucket: string; objectKey: string; lifetimeMs: number }): TemporaryCredentials {
    this.#forgetOldSessions();
    const session: Session = {
      // The prefix marks a temporary key; the S3 server asks for a session token only with it.
      accessKeyId: `ASIA${randomBytes(8).toString('hex').toUpperCase()}`,
      accessKeySecret: randomBytes(30).toString('base64url'),
      securityToken: randomBytes(48).toString('base64url'),
      bucket: grant.bucket,
      objectKey: grant.objectKey,
      expiresAtMs: Date.now() + grant.lifetimeMs,
    };
    this.#sessions.set(session.accessKeyId, session);
    this.#sessionsByObject.set(session.objectKey, session);
    return session;
  }

  /** Ends the credentials of one object; repeating it has no effect. */
  revoke(objectKey: string): void {
    const session = this.#sessionsByObject.get(objectKey);
    if (session !== undefined) expire(session);
  }

  /** Ends all credentials that were handed out. */
  expireAll(): void {
    for (const session of this.#sessions.values()) expire(session);
  }

  /** Whether an access key belongs to a session, expired or not. Reveals nothing but that. */
  knows(accessKeyId: string): boolean {
    return this.#sessions.has(accessKeyId);
  }

  /** The SigV4 signing key of a session; the secret itself is never handed to the S3 server. */
  signingKey(accessKeyId: string, sessionToken: string | undefined, scope: SigningScope): Buffer | IdentityProblem {
    const session = this.#valid(accessKeyId, sessionToken);
    if (typeof session === 'string') return session;
    const dateKey = hmac(`AWS4${session.accessKeySecret}`, scope.date);
    return hmac(hmac(hmac(dateKey, scope.region), scope.service), 'aws4_request');
  }

  /**
   * May this session do `action` on `resource` (`arn:aws:s3:::bucket/key`, or `bucket/key`)?
   *
   * Asked for a request whose signature was just accepted: a session that ends between the two questions still serves
   * that request. The S3 server would answer it with InternalError otherwise.
   */
  decide(
    accessKeyId: string,
    sessionToken: string | undefined,
    action: string,
    resource: string,
  ): PolicyDecision | IdentityProblem {
    const session = this.#identified(accessKeyId, sessionToken);
    if (typeof session === 'string') return session;
    const path = resource.replace(/^arn:aws:s3:::/, '');
    return path === `${session.bucket}/${session.objectKey}` && UPLOAD_ACTIONS.has(action) ? 'allow' : 'deny';
  }

  #valid(accessKeyId: string, sessionToken: string | undefined): Session | IdentityProblem {
    const session = this.#identified(accessKeyId, sessionToken);
    if (typeof session === 'string') return session;
    return Date.now() < session.expiresAtMs ? session : 'InvalidToken';
  }

  #identified(accessKeyId: string, sessionToken: string | undefined): Session | IdentityProblem {
    const session = this.#sessions.get(accessKeyId);
    if (session === undefined) return 'NoSuchIdentity';
    return sessionToken !== undefined && sameText(sessionToken, session.securityToken) ? session : 'InvalidToken';
  }

  #forgetOldSessions(): void {
    const horizonMs = Date.now() - EXPIRED_MEMORY_MS;
    for (const [accessKeyId, session] of this.#sessions) {
      // Sessions are in the order they were minted; the first one still remembered ends the walk.
      if (session.expiresAtMs > horizonMs) return;
      this.#sessions.delete(accessKeyId);
      this.#sessionsByObject.delete(session.objectKey);
    }
  }
}

function expire(session: Session): void {
  session.expiresAtMs = Math.min(session.expiresAtMs, Date.now());
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function sameText(left: string, right: string): boolean {
  const a = Buffer.from(left);
  const b = Buffer.from(right);
  return a.length === b.length && timingSafeEqual(a, b);
}
