import { codeOf } from '../domain/error-code';
import { safeText } from '../domain/safe-text';

export { codeOf };

/** A cause that may be shown: the error's message made safe and its code, and nothing else of it. */
export function safeCause(error: unknown, secrets: readonly string[] = []): Error {
  const code = codeOf(error);
  const hasMessage = typeof error === 'object' && error !== null && 'message' in error;
  const cause = new Error(safeText(hasMessage ? String(error.message) : 'unknown', secrets));
  return code === '' ? cause : Object.assign(cause, { code });
}
