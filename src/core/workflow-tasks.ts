// A worker replays its predecessor's histories on one thread, 1.1 ms an event: all of these fit into one task's time.

/** A run with so many events continues as new: a replay of it takes less than 0.2 s. */
export const longHistoryEvents = 120;
/** Of one workflow task: every start and continue-as-new sets it, as Temporal's own 10 s are too short. */
export const workflowTaskTimeout = '20 seconds';
export const maxWorkflowTasks = 80;
