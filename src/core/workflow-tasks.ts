// A worker replays histories of its predecessor on one thread, some 1.1 ms an event: all of these fit into one task's time.

/** A run with so many events continues as new: a replay of it takes less than 0.2 s. */
export const longHistoryEvents = 120;
/** How long a workflow task may take; every start and every continue-as-new sets it, for Temporal's own 10 s are too short. */
export const workflowTaskTimeout = '20 seconds';
/** The most workflow tasks that a worker takes at the same time. */
export const maxWorkflowTasks = 80;
