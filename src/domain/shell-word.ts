/**
 * A word of a command line for a POSIX shell. Ids of tasks that another program started, and request ids of the service, may
 * hold anything: whoever copies a command must not run what is in them.
 */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
