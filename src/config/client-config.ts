import { flag, optionProblems, type OptionRules, plainText } from '../core/option-rules';
import { isRecord } from '../core/json';
import type { TraceContext } from '../core/trace-context';
import { type CodecKeys, readCodecKeys } from './codec-keys';
import { ConfigError, Environment, ignoredVariableWarnings, type Loaded, type ReadTextFile } from './environment';
import { readTraceparent, readTraces, type TracesConfig } from './traces-config';
import type { ArchiveConfig, BucketArchiveConfig } from './values';
import { variablesReadBy } from './variables';

export type StagingConfig = Omit<BucketArchiveConfig, 'kind'>;

/** For the command line and a backend's client, apart from Temporal's address. */
export interface ClientConfig {
  /** Base URL without a trailing slash; `null`: no links. */
  readonly webUiUrl: string | null;
  /** For the caller's local files; `null`: the workers see them themselves. */
  readonly staging: StagingConfig | null;
  /** `null`: payloads are not encrypted. */
  readonly codecKeys: CodecKeys | null;
  /** `null`: none. */
  readonly traces: TracesConfig | null;
  /** Given by what called this program. */
  readonly traceParent: TraceContext | null;
}

/** Pure but for the file of keys. Throws {@link ConfigError} with every problem at once. */
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

/** Null where the environment names none. Throws {@link ConfigError}. */
export function findArchivePlace(env: NodeJS.ProcessEnv): ArchiveConfig | null {
  const environment = new Environment(env, ['LONGHAUL_ARCHIVE', 'LONGHAUL_S3_PATH_STYLE']);
  return environment.isSet('LONGHAUL_ARCHIVE') ? environment.usable(readArchivePlace(environment)) : null;
}

/** For commands that only read it. Throws {@link ConfigError}. */
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

/** Throws {@link ConfigError}; of a given place, in the option's name. */
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

/** Throws {@link ConfigError}. */
export function loadArchiveOf(place: FilePlace): ArchiveConfig {
  return loadPlace('LONGHAUL_ARCHIVE', place, loadArchivePlace);
}

/** Throws {@link ConfigError}. */
export function loadStagingOf(place: FilePlace): StagingConfig {
  return loadPlace('LONGHAUL_STAGING', place, (env) => {
    const environment = new Environment(env, ['LONGHAUL_STAGING', 'LONGHAUL_S3_PATH_STYLE']);
    environment.require('LONGHAUL_STAGING');
    return environment.usable(readStaging(environment));
  });
}

/** Null when the address of the Web UI is not configured. */
export function namespaceUrl(webUiUrl: string | null, namespace: string): string | null {
  return webUiUrl === null ? null : `${webUiUrl}/namespaces/${encodeURIComponent(namespace)}`;
}
