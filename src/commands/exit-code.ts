/** The exit codes (docs/reference/command-line.md lists them; a change is a breaking change). */
export const exitCodes = {
  /** Done; for `run` and `batch run`, every output is archived. */
  success: 0,
  /** Something that should not happen: a bug, or a part of Temporal that misbehaves. */
  unexpected: 1,
  /** The command line, the input or the configuration cannot be used; nothing was paid. */
  badInput: 2,
  /** The task failed, or the service rejected it; or rows of the batch did; or files could not be fetched. */
  failed: 3,
  /** The task was canceled; or rows of the batch were, or were not started. */
  canceled: 4,
  /** The task waits for a decision or needs inspection, or `reconcile` or a sweep found tasks that are not safe. */
  needsPerson: 5,
  /** Temporal is unreachable or not ready (no namespace, search attributes or worker), or `doctor` found so. */
  temporalNotReady: 6,
  /** The task succeeded, and the service reports some of its outputs as failed; or outputs of rows that succeeded. */
  outputsFailed: 7,
  /** Ctrl-C: the command ended, the task goes on. */
  detached: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];
