/** What a client of a bucket goes by instead of the variables of its process. */
export interface AwsSettings {
  /** Null: there is none, whatever the process has. Absent: what the AWS SDK finds. */
  readonly region?: string | null;
  /** A URL. Null: Amazon's own. Absent: what the AWS SDK finds. */
  readonly endpoint?: string | null;
  readonly keys?: AwsKeys;
  /** Of the shared files, before the process's own role; the keys of the process are left out then. */
  readonly profile?: string;
}

/** Keys of an account. */
export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/**
 * What AWS's own variables say in this environment. The SDK itself reads those of the process, and would fill every gap
 * of another environment from there: with the wrong account, or at the wrong place. A variable that is empty counts as not
 * set.
 */
export function readAwsSettings(env: NodeJS.ProcessEnv = process.env): AwsSettings {
  const region = readRegion(env);
  return env === process.env ? region : { ...region, ...readEndpoint(env), ...readAccount(env) };
}

/** Where the process has none either, the SDK may find one in the shared files. */
function readRegion(env: NodeJS.ProcessEnv): AwsSettings {
  const region = given(env['AWS_REGION']) ?? given(env['AWS_DEFAULT_REGION']);
  if (region !== undefined) return { region };
  return process.env['AWS_REGION'] === undefined ? {} : { region: null };
}

function readEndpoint(env: NodeJS.ProcessEnv): AwsSettings {
  const endpointOf = (variables: NodeJS.ProcessEnv): string | undefined =>
    given(variables['AWS_ENDPOINT_URL_S3']) ?? given(variables['AWS_ENDPOINT_URL']);
  const endpoint = endpointOf(env);
  if (endpoint !== undefined) return { endpoint };
  return endpointOf(process.env) === undefined ? {} : { endpoint: null };
}

function readAccount(env: NodeJS.ProcessEnv): AwsSettings {
  const accessKeyId = given(env['AWS_ACCESS_KEY_ID']);
  const secretAccessKey = given(env['AWS_SECRET_ACCESS_KEY']);
  const sessionToken = given(env['AWS_SESSION_TOKEN']);
  return accessKeyId === undefined || secretAccessKey === undefined
    ? { profile: given(env['AWS_PROFILE']) ?? 'default' }
    : { keys: { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) } };
}

function given(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}
