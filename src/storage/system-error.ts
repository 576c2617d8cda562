import { errorCode, errorMessage, safeText } from '../domain/text';

/** A cause that may be shown: the error's message made safe and its code, and nothing else of it. */
export function safeCause(error: unknown, secrets: readonly string[] = []): Error {
  const code = errorCode(error);
  const cause = new Error(safeText(errorMessage(error), secrets));
  return code === '' ? cause : Object.assign(cause, { code });
}
