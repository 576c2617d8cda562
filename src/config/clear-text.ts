/** Whether what is sent to this URL crosses a network unencrypted; this machine is none. */
export function isClearText(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}
