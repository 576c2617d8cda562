import { safeText } from '../domain/safe-text';

/** The code of a system or network error (`ENOENT`, `ECONNRESET`, `UND_ERR_SOCKET`); empty when it has none. */
export function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}

/** A cause that may be shown: the error's message made safe and its code, and nothing else of it. */
export function safeCause(error: unknown, secrets: readonly string[] = []): Error {
  const code = codeOf(error);
  const hasMessage = typeof error === 'object' && error !== null && 'message' in error;
  const cause = new Error(safeText(hasMessage ? String(error.message) : 'unknown', secrets));
  return code === '' ? cause : Object.assign(cause, { code });
}
