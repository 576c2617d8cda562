/** The text of whatever was thrown: an error's message, or the value itself as text. */
export function errorMessage(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string') {
    return error.message;
  }
  return String(error);
}

/** The code of a system or network error (`ENOENT`, `ECONNRESET`, `UND_ERR_SOCKET`); empty when it has none. */
export function errorCode(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}
