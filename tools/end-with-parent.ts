/** How often the parent is looked for. */
const everyMs = 500;

/**
 * Calls `end` once when the process that started this one has ended. A signal to npm does not reach what npm runs by way of a
 * shell. To be called early: the parent of that moment is the one that counts. Returns what stops the watch.
 */
export function watchParent(end: () => void): () => void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    end();
  }, everyMs);
  timer.unref();
  return () => {
    clearInterval(timer);
  };
}
