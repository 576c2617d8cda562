/** A workflow whose workflow tasks fail, again and again: it makes no progress and hears no message. */
export interface StuckWorkflow {
  /** As Temporal reports them: `category=WorkflowTaskFailed`, `cause=…`; empty before it does. */
  readonly problems: readonly string[];
  /** Attempts of the workflow task so far; null where Temporal does not tell. */
  readonly attempts: number | null;
  /** What is wrong and what to do, in words. */
  readonly message: string;
}

/** One failed attempt may be a worker that was restarted. */
const failingFromAttempt = 3;

/** The list filter that finds them; Temporal sets the attribute after several failed workflow tasks in a row. */
export const stuckFilter =
  'TemporalReportedProblems IN ("category=WorkflowTaskFailed", "category=WorkflowTaskTimedOut")';

/** What is wrong with a workflow that runs; null when its workflow tasks succeed. */
export function stuckWorkflow(workflowId: string, problems: readonly string[], attempt: number): StuckWorkflow | null {
  if (problems.length === 0 && attempt < failingFromAttempt) return null;
  const attempts = attempt < failingFromAttempt ? null : attempt;
  const details = [...problems, ...(attempts === null ? [] : [`attempt ${attempts}`])].join(', ');
  return {
    problems,
    attempts,
    message: `Its workflow tasks fail (${details}), so it makes no progress and a stop does not reach it. ${stuckRemedy(workflowId)}`,
  };
}

/** What to do about a stuck workflow. */
export function stuckRemedy(workflowId: string): string {
  return (
    'The error is in the worker’s log and in the workflow’s history. ' +
    'If the worker is of another version than the workflow, start one of the right version. ' +
    `Otherwise: temporal workflow reset --workflow-id ${workflowId} --type LastWorkflowTask --reapply-exclude Signal --reason stuck. ` +
    'The reset drops signals and a stop that came meanwhile: ask for a stop again.'
  );
}
