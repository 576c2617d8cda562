import type { S3ClientConfig } from './aws-sdk';

/** What the SDK says where there is no region at all. */
const regionMissing = 'Region is missing';

/**
 * What a client must be given so that it goes by this environment. The SDK itself reads that of the process only, and
 * would fill every gap of another one from there: with the wrong account, or at the wrong place. What this leaves out, the
 * SDK finds in the shared files or has from the machine's role. A variable that is empty counts as not set.
 */
export function awsSettings(env: NodeJS.ProcessEnv): S3ClientConfig {
  const settings = regionOf(env);
  return env === process.env ? settings : { ...settings, ...endpointOf(env), ...accountOf(env) };
}

/** Not set in the one and set in that of the process: the SDK must not get to see the latter. */
function regionOf({ AWS_REGION, AWS_DEFAULT_REGION }: NodeJS.ProcessEnv): S3ClientConfig {
  const region = given(AWS_REGION) ?? given(AWS_DEFAULT_REGION);
  if (region !== undefined) return { region };
  const { AWS_REGION: ofTheProcess } = process.env;
  return ofTheProcess === undefined ? {} : { region: refuseRegion };
}

function refuseRegion(): Promise<never> {
  return Promise.reject(new Error(regionMissing));
}

function endpointOf({ AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL }: NodeJS.ProcessEnv): S3ClientConfig {
  const endpoint = given(AWS_ENDPOINT_URL_S3) ?? given(AWS_ENDPOINT_URL);
  if (endpoint !== undefined) return { endpoint };
  const { AWS_ENDPOINT_URL_S3: s3, AWS_ENDPOINT_URL: any } = process.env;
  return (given(s3) ?? given(any)) === undefined ? {} : { ignoreConfiguredEndpointUrls: true };
}

/** With a profile the SDK leaves out the keys of the process. */
function accountOf(env: NodeJS.ProcessEnv): S3ClientConfig {
  const accessKeyId = given(env['AWS_ACCESS_KEY_ID']);
  const secretAccessKey = given(env['AWS_SECRET_ACCESS_KEY']);
  const sessionToken = given(env['AWS_SESSION_TOKEN']);
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    return { profile: given(env['AWS_PROFILE']) ?? 'default' };
  }
  return { credentials: { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) } };
}

function given(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}
