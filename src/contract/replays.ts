/** A replay that takes longer than this delays every other workflow of its worker. */
export const slowReplayMs = 1_000;

/** What the workflows of a worker tell it of their replays: that one took longer than {@link slowReplayMs}. */
export type ReplaySinks = Readonly<Record<'longhaulReplays', { readonly slow: (tookMs: number) => void }>>;
