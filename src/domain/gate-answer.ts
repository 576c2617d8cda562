/** What the gate of an account says to a task that wants to send its create; plain data that may enter a history. */
export type GateAnswer =
  | {
      readonly pass: true;
      /** The archive of the worker that was asked, in which the create record shall be. */
      readonly archiveId?: string;
    }
  | {
      readonly pass: false;
      /** When to ask again, from now. */
      readonly waitMs: number;
      /** What the task waits for, in words; without URLs and secrets. */
      readonly reason: string;
    };
