/** Where a tool was found. */
export type ToolSource = 'PATH' | 'cache' | 'installed';

/** A program that can be started. */
export interface ToolLocation {
  readonly path: string;
  /** `PATH`: the user's own; `cache`: installed by an earlier run; `installed`: by this call. */
  readonly source: ToolSource;
}
