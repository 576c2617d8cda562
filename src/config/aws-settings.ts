/** Replaces the variables of the process for a client of a bucket. */
export interface AwsSettings {
  /** Null: there is none, whatever the process has. Absent: what the AWS SDK finds. */
  readonly region?: string | null;
  /** A URL. Null: Amazon's own. Absent: what the AWS SDK finds. */
  readonly endpoint?: string | null;
  readonly keys?: AwsKeys;
  /** Of the shared files, before the process's own role; the keys of the process are left out then. */
  readonly profile?: string;
}

export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** Of this environment alone: the SDK would fill gaps from the process's, with the wrong account. */
export function readAwsSettings(env: NodeJS.ProcessEnv = process.env): AwsSettings {
  const first = (names: readonly string[], from = env): string | undefined =>
    names.map((name) => from[name]).find((value) => value !== undefined && value !== '');
  // Null hides what the process has; undefined leaves it to the SDK and its shared files.
  const region =
    first(['AWS_REGION', 'AWS_DEFAULT_REGION']) ?? (process.env['AWS_REGION'] === undefined ? undefined : null);
  if (env === process.env) return { region };

  const endpoints = ['AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL'];
  const endpoint = first(endpoints) ?? (first(endpoints, process.env) === undefined ? undefined : null);
  const accessKeyId = first(['AWS_ACCESS_KEY_ID']);
  const secretAccessKey = first(['AWS_SECRET_ACCESS_KEY']);
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    return { region, endpoint, profile: first(['AWS_PROFILE']) ?? 'default' };
  }
  const sessionToken = first(['AWS_SESSION_TOKEN']);
  return { region, endpoint, keys: { accessKeyId, secretAccessKey, sessionToken } };
}
