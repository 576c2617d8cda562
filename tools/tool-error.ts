/**
 * A prerequisite of development, demo or tests is missing or does not work. Its message is complete for a reader at a
 * terminal: what was tried, what went wrong, and what to do about it.
 */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}
