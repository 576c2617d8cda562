/** How a stream of rows is worked off. Questions to Temporal at the same time: nearly all of the wait is Temporal's. */
export const rowsAtOnce = { concurrency: 20 } as const;

/** So many bytes of ends, as JSON, are put into one result; Temporal refuses one of more than 2 MiB. */
export const maxEndBytes = 500_000;
