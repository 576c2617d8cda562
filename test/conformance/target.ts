/** An app that is run for a check, with its `input_values`; a file is uploaded first and its url put in its place. */
export interface AppRun {
  readonly webAppId: number;
  readonly inputs: Readonly<Record<string, string | number | { readonly file: string }>>;
}

export interface Pace {
  /** Between two polls of a task. @default 1000, as section 8 recommends */
  readonly pollEveryMs: number;
  /** Longest that a task may take. */
  readonly taskWithinMs: number;
  /** Callbacks, by section 6: about every 6 s, at most 10 times, each given up after about 10 s. */
  readonly callbackRetryMs: number;
  readonly callbackAttempts: number;
  readonly callbackTimeoutMs: number;
  /** How long a link works, and upload credentials; not shown in the specification, so only if it is known. */
  readonly linkLifetimeMs?: number;
  readonly credentialLifetimeMs?: number;
}

/** The service to look at, and what may be done to it. */
export interface Target {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Whether tasks may be created, which costs money. */
  readonly mayPay: boolean;
  readonly mayUpload: boolean;
  /** An app that succeeds; best with a number and a file among its inputs. */
  readonly app?: AppRun;
  readonly failingApp?: AppRun;
  /** An app that runs for half a minute or longer. */
  readonly slowApp?: AppRun;
  /** A bucket of the same storage that the service does not upload to. */
  readonly otherBucket?: string;
  /** Where callbacks are received; `publicUrl` is how the service reaches it when it is not on this machine. */
  readonly callbacks?: { readonly port: number; readonly publicUrl?: string };
  readonly pace: Pace;
}

export const specifiedPace: Pace = {
  pollEveryMs: 1_000,
  taskWithinMs: 15 * 60_000,
  callbackRetryMs: 6_000,
  callbackAttempts: 10,
  callbackTimeoutMs: 10_000,
};

/** Whether the service reaches the receiver of callbacks: it runs on this machine, or there is a public address. */
export function canReceive({ baseUrl, callbacks }: Target): boolean {
  const isLocal = /^(127\.\d+\.\d+\.\d+|\[::1\]|localhost)$/.test(new URL(baseUrl).hostname);
  return isLocal || callbacks?.publicUrl !== undefined;
}
