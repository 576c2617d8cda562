import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Secret } from '../config/secret';

/**
 * Whether an `Authorization` header brings one of these tokens. Digests are compared, so neither the time nor the length
 * reveals how much of a guess was right; all are compared, so not which one either.
 */
export function createTokenCheck(tokens: readonly Secret[]): (authorization: string | undefined) => boolean {
  const accepted = tokens.map((token) => sha256(`Bearer ${token.reveal()}`));
  return (authorization = '') => {
    const given = sha256(authorization);
    return accepted.map((digest) => timingSafeEqual(digest, given)).includes(true);
  };
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/**
 * A request's body; `undefined` when it is larger than that. The rest is discarded, so that the sender reads the
 * answer. Rejects when the sender gives up.
 */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  return await new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request
      .on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes <= maxBytes) {
          chunks.push(chunk);
          return;
        }
        chunks.length = 0;
        resolve(undefined);
      })
      .once('end', () => {
        resolve(Buffer.concat(chunks));
      })
      .once('error', reject);
  });
}
