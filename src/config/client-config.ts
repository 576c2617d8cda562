import { flag, optionProblems, type OptionRules, plainText } from '../core/option-rules';
import { isRecord } from '../core/json';
import type { TraceContext } from '../core/trace-context';
import { type CodecKeys, readCodecKeys } from './codec-keys';
import { ConfigError, Environment, ignoredVariableWarnings, type Loaded, type ReadTextFile } from './environment';
import { readTraceparent, readTraces, type TracesConfig } from './traces-config';
import type { ArchiveConfig, BucketArchiveConfig } from './values';
import { variablesReadBy } from './variables';

/** A bucket, as {@link BucketArchiveConfig} has it. */
export type StagingConfig = Omit<BucketArchiveConfig, 'kind'>;

/** What the command line and a backend's client need to know of their environment, apart from Temporal's address. */
export interface ClientConfig {
  /** Base URL of Temporal's Web UI, without a trailing slash; `null`: no links. */
  readonly webUiUrl: string | null;
  /** Where local files of the caller are put for the workers; `null`: the workers see them themselves. */
  readonly staging: StagingConfig | null;
  /** What payloads are encrypted with; `null`: they are not. */
  readonly codecKeys: CodecKeys | null;
  /** Where traces go; `null`: there are none. */
  readonly traces: TracesConfig | null;
  /** The place in a trace that what called this program gave it. */
  readonly traceParent: TraceContext | null;
}

/** Reads the configuration. Pure but for the file of keys. Throws {@link ConfigError} with every problem at once. */
export function loadClientConfig(
  env: NodeJS.ProcessEnv = process.env,
  readTextFile?: ReadTextFile,
): Loaded<ClientConfig> {
  const environment = new Environment(env, variablesReadBy('command line'), readTextFile);
  const traces = readTraces(environment);
  const warnings = ignoredVariableWarnings(env);
  const config = {
    webUiUrl: environment.values.LONGHAUL_WEB_UI_URL,
    staging: readStaging(environment),
    codecKeys: readCodecKeys(environment),
    traces,
    traceParent: traces === null ? null : readTraceparent(env, warnings),
  };
  return { config: Object.freeze(environment.usable(config)), warnings };
}

/** Where the archive is, if the environment says so. Throws {@link ConfigError}. */
export function findArchivePlace(env: NodeJS.ProcessEnv): ArchiveConfig | null {
  const environment = new Environment(env, ['LONGHAUL_ARCHIVE', 'LONGHAUL_S3_PATH_STYLE']);
  return environment.isSet('LONGHAUL_ARCHIVE') ? environment.usable(readArchivePlace(environment)) : null;
}

/** Where the archive is, for commands that only read it. Throws {@link ConfigError}. */
export function loadArchivePlace(env: NodeJS.ProcessEnv = process.env): ArchiveConfig {
  const environment = new Environment(env, ['LONGHAUL_ARCHIVE', 'LONGHAUL_S3_PATH_STYLE']);
  environment.require('LONGHAUL_ARCHIVE');
  return environment.usable(readArchivePlace(environment));
}

/** Frozen. */
export function readArchivePlace({
  values,
}: Environment<'LONGHAUL_ARCHIVE' | 'LONGHAUL_S3_PATH_STYLE'>): ArchiveConfig | null {
  const { LONGHAUL_ARCHIVE: place, LONGHAUL_S3_PATH_STYLE: isPathStyle } = values;
  return place && Object.freeze(place.kind === 's3' ? { ...place, isPathStyle } : place);
}

function readStaging({ values }: Environment<'LONGHAUL_STAGING' | 'LONGHAUL_S3_PATH_STYLE'>): StagingConfig | null {
  const { LONGHAUL_STAGING: place, LONGHAUL_S3_PATH_STYLE: isPathStyle } = values;
  return place && Object.freeze({ ...place, isPathStyle });
}

/** A place of files, as a caller names it. */
export interface FilePlace {
  /** A folder (of an archive only) or `s3://bucket/prefix`. @default what the environment says */
  readonly place?: string;
  /** Whether the bucket stands in the path of a URL instead of its host. @default what the environment says */
  readonly isPathStyle?: boolean;
  /** @default that of this process */
  readonly env?: NodeJS.ProcessEnv;
}

const placeRules: OptionRules<FilePlace> = {
  place: plainText,
  isPathStyle: flag,
  env: { is: isRecord, remedy: 'an object of environment variables' },
};

/** Throws {@link ConfigError}; of a place that was given, in the option's name. */
function loadPlace<Config>(
  name: 'LONGHAUL_STAGING' | 'LONGHAUL_ARCHIVE',
  given: FilePlace,
  load: (env: NodeJS.ProcessEnv) => Config,
): Config {
  const problems = optionProblems(given, placeRules);
  if (problems.length > 0) throw new ConfigError(problems);
  const { place, isPathStyle, env = process.env } = given;
  const named: NodeJS.ProcessEnv = { ...env };
  if (place !== undefined) named[name] = place;
  if (isPathStyle !== undefined) named['LONGHAUL_S3_PATH_STYLE'] = String(isPathStyle);
  try {
    return load(named);
  } catch (error) {
    if (place === undefined || !(error instanceof ConfigError)) throw error;
    throw new ConfigError(error.problems.map((problem) => problem.replace(`${name} is `, 'place is ')));
  }
}

/** The archive of this place. Throws {@link ConfigError}. */
export function loadArchiveOf(place: FilePlace): ArchiveConfig {
  return loadPlace('LONGHAUL_ARCHIVE', place, loadArchivePlace);
}

/** The staging of this place. Throws {@link ConfigError}. */
export function loadStagingOf(place: FilePlace): StagingConfig {
  return loadPlace('LONGHAUL_STAGING', place, (env) => {
    const environment = new Environment(env, ['LONGHAUL_STAGING', 'LONGHAUL_S3_PATH_STYLE']);
    environment.require('LONGHAUL_STAGING');
    return environment.usable(readStaging(environment));
  });
}

/** A namespace's page in Temporal's Web UI; null when its address is not configured. */
export function namespaceUrl(webUiUrl: string | null, namespace: string): string | null {
  return webUiUrl === null ? null : `${webUiUrl}/namespaces/${encodeURIComponent(namespace)}`;
}
