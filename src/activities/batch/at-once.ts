/** How a stream of rows is worked off. Questions to Temporal at the same time: nearly all of the wait is Temporal's. */
export const rowsAtOnce = { concurrency: 20 } as const;
