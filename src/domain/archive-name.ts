/**
 * One path part for any text, safe on every file system: nothing that separates, hides or leads elsewhere. Two texts
 * never share a part, since what is found under a name is taken for the task that the name belongs to.
 */
export function pathPart(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*~]|^\.|\.$/g, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  });
}

/** A file extension as the service gives it (`.png`), or `''` when it is not one. */
export function safeExtension(ext: string): string {
  return /^\.[A-Za-z0-9]{1,10}$/.test(ext) ? ext.toLowerCase() : '';
}

/** The archive's name of one output: `{requestId}/{index}{ext}`. */
export function outputName(requestId: string, index: number, ext: string): string {
  return `${pathPart(requestId)}/${index}${safeExtension(ext)}`;
}

/** The archive's name of a task's manifest. */
export function manifestName(requestId: string): string {
  return `${pathPart(requestId)}/manifest.json`;
}
