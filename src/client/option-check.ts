import { optionProblems, type OptionRules } from '../domain/option-rules';
import { InputInvalidError } from './errors';

/** Throws {@link InputInvalidError} with every problem of the options. */
export function checkOptions<Options>(options: unknown, rules: OptionRules<Options>): void {
  const problems = optionProblems(options, rules);
  if (problems.length > 0) throw new InputInvalidError(problems, 'arguments');
}
