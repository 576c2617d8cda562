/** The code of a system or network error (`ENOENT`, `ECONNRESET`, `UND_ERR_SOCKET`); empty when it has none. */
export function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}
