/**
 * Thrown when the environment cannot be used. Holds every problem at once, each with the variable's name, its value
 * (never a secret's) and the remedy; nothing was started.
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(['The configuration cannot be used:', ...problems.map((problem) => `  - ${problem}`)].join('\n'));
    this.problems = problems;
  }
}
