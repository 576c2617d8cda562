import { createHash, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../config/secret';

/**
 * Whether an `Authorization` header brings one of these tokens (specification, section 5). Digests are compared, so
 * neither the time nor the length tells how much of a guess was right; and all of them, so not which one either.
 */
export function createTokenCheck(tokens: readonly Secret[]): (authorization: string | undefined) => boolean {
  const accepted = tokens.map((token) => digestOf(`Bearer ${token.reveal()}`));
  return (authorization = '') => {
    const given = digestOf(authorization);
    return accepted.map((digest) => timingSafeEqual(digest, given)).includes(true);
  };
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
