import { isLonghaulWorkflowId, taskKeyOf } from './workflow-ids';

/** What a person can decide about a task that waits for a decision. */
export interface OperatorChoice {
  /** Name of the update that says so. */
  readonly update: string;
  /** The update's argument, as JSON; null: it takes none. */
  readonly argument: string | null;
  /** The same in a terminal. */
  readonly command: string;
  /** When to choose it, and what it costs. */
  readonly meaning: string;
}

/** What can be decided in a state; nothing in most. A task that is over takes no decision, whatever its state. */
export function operatorChoices(status: string, workflowId: string): readonly OperatorChoice[] {
  // Ids that are not Longhaul's own may hold anything, so they stand in no command to copy.
  const id = taskKeyOf(workflowId) ?? (isLonghaulWorkflowId(workflowId) ? workflowId : 'WORKFLOW_ID');
  if (status === 'CreateUncertain') {
    return [
      {
        update: 'adopt',
        argument: '{"requestId": "REQUEST_ID"}',
        command: `longhaul resolve ${id} --adopt REQUEST_ID`,
        meaning: 'the service shows the task: follow it; costs nothing more',
      },
      {
        update: 'recreate',
        argument: null,
        command: `longhaul resolve ${id} --recreate`,
        meaning: 'the service does not show it: create it once more; paid twice if it exists after all',
      },
      {
        update: 'abandon',
        argument: null,
        command: `longhaul resolve ${id} --abandon`,
        meaning: 'give it up; if it exists, it runs on and is paid',
      },
    ];
  }
  if (status !== 'ArchiveIncomplete') return [];
  return [
    {
      update: 'rearchive',
      argument: null,
      command: `longhaul rearchive ${id}`,
      meaning: 'the cause is repaired: fetch at once what is missing; costs nothing more',
    },
    {
      update: 'abandon',
      argument: null,
      command: `longhaul resolve ${id} --abandon`,
      meaning: 'give up what is missing; it is paid, and gone once the service deletes it',
    },
  ];
}
