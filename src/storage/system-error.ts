import { safeText } from '../domain/safe-text';
import { errorCode, errorMessage } from '../domain/unknown-error';

/** A cause that may be shown: the error's message made safe and its code, and nothing else of it. */
export function safeCause(error: unknown, secrets: readonly string[] = []): Error {
  const code = errorCode(error);
  const cause = new Error(safeText(errorMessage(error), secrets));
  return code === '' ? cause : Object.assign(cause, { code });
}
