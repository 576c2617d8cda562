import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import type { StorageServer } from '../reference-service/storage/storage-server';
import { errorCode } from '../src/core/text';
import { longhaulCommand } from './source-command';

/** Names the variables of a demo in a shell that has them. */
const marker = 'DEMO_VARIABLES';
const stagingBucket = 'staging';

/**
 * The environment without what another demo put in it, so that this one does not join that one's Temporal; and whether
 * there was anything.
 */
export function withoutOtherDemo(env: NodeJS.ProcessEnv): { env: NodeJS.ProcessEnv; isOther: boolean } {
  const names = env[marker]?.split(' ') ?? [];
  const left = Object.entries(env).filter(([name]) => name !== marker && !names.includes(name));
  return { env: Object.fromEntries(left), isOther: names.length > 0 };
}

/**
 * Makes a bucket for inputs in the demo's own S3 server; what points a backend and the worker at it. The keys are random
 * ones of that server, which ends with the demo.
 */
export async function stageIn(storage: StorageServer): Promise<NodeJS.ProcessEnv> {
  const { endpoint, region, rootAccessKeyId: accessKeyId, rootSecretAccessKey: secretAccessKey } = storage;
  const credentials = { accessKeyId, secretAccessKey };
  const client = new S3Client({ endpoint, region, forcePathStyle: true, credentials });
  try {
    await client.send(new CreateBucketCommand({ Bucket: stagingBucket }));
  } finally {
    client.destroy();
  }
  return {
    LONGHAUL_STAGING: `s3://${stagingBucket}/inputs`,
    AWS_ENDPOINT_URL_S3: endpoint,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
  };
}

/** A file for a shell that has the variables of the demo, and the command. */
export interface EnvironmentFile {
  readonly path: string;
  remove(): void;
}

/**
 * Writes it into the folder: `environment.sh`, or one with this process's number in its name while another demo that runs
 * has that.
 *
 * @param own - the demo's own variables. They have the keys of its service and S3 server, which end with it.
 * @param taken - those that it took from its own shell, such as a file of prices: the next demo takes them, too.
 */
export function writeEnvironment(
  folder: string,
  own: NodeJS.ProcessEnv,
  taken: NodeJS.ProcessEnv = {},
): EnvironmentFile {
  mkdirSync(folder, { recursive: true });
  const { command, args } = longhaulCommand([]);
  const variables = { ...taken, ...own };
  const text = [
    `# of process ${process.pid}`,
    ...Object.entries(variables).map(([name, value = '']) => `export ${name}=${quoted(value)}`),
    `export ${marker}=${quoted(Object.keys(own).join(' '))}`,
    `longhaul() { ${[command, ...args].map(quoted).join(' ')} "$@"; }`,
    '',
  ].join('\n');
  const path = freePath(folder);
  rmSync(path, { force: true });
  writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
  return {
    path,
    remove: () => {
      rmSync(path, { force: true });
    },
  };
}

function freePath(folder: string): string {
  const usual = join(folder, 'environment.sh');
  return isInUse(usual) ? join(folder, `environment-${process.pid}.sh`) : usual;
}

/** Whether the demo that wrote the file still runs; one that was killed has left its file. */
function isInUse(path: string): boolean {
  try {
    const [, pid = ''] = /^# of process (\d+)/.exec(readFileSync(path, 'utf8')) ?? [];
    return pid !== '' && isAlive(Number(pid));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
