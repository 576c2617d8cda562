/**
 * A URL as it may be shown and kept: without its query, fragment and user information, which is where signatures,
 * tokens and passwords are. Pure string work, so it also holds for what a strict parser refuses.
 */
export function redactUrl(url: string): string {
  const [address = ''] = url.split(/[?#]/, 1);
  return address.replace(/^([a-z][a-z0-9+.-]{0,30}:\/\/)[^/]*@/i, '$1');
}
