import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { type ReferenceService, startReferenceService } from '../reference-service/start-reference-service';
import { type S3Server, startS3 } from '../tools/s3-server';
import { mebibytes } from './process-use';

const USAGE = `Usage: npm run bench:transfer -- [options]

Uploads and archives one large file in each way, through a real S3 server on the loopback address, each in a process of
its own, and prints throughput, processor time and how far its memory rose above what it was before; and how fast an
archive in a bucket is to a download into a file and its upload by the AWS SDK.

  --mebibytes NUMBER   size of the file (default: 1024)
  --rounds NUMBER      how often; the ways take turns (default: 1)
  --help               show this text
`;

const WAYS = [
  'upload in one PUT',
  'upload in parts',
  'archive in a folder',
  'archive in a bucket',
  'archive in a bucket, by the disk',
  'download, then upload by the SDK',
] as const;

interface Figures {
  readonly idleBytes: number;
  readonly peakBytes: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      mebibytes: { type: 'string', default: '1024' },
      rounds: { type: 'string', default: '1' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    return;
  }
  // The AWS SDK's notice about this Node would stand between the figures.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
  const sizeBytes = Number(values.mebibytes) * 1024 ** 2;
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-bench-'));
  let storage: S3Server | undefined;
  const service = await startReferenceService({
    linkLifetimeMs: 3_600_000,
    startStorage: async ({ iamSocket, region }) => (storage = await startS3({ iamSocket, region })),
  });
  try {
    if (storage === undefined) throw new Error('The service was started without its storage.');
    for (let round = 0; round < Number(values.rounds); round += 1) {
      const seconds: number[] = [];
      for (const way of WAYS) {
        const figures = await measure(way, { service, storage, folder, sizeBytes });
        seconds.push(figures.seconds);
        process.stdout.write(textOf(way, sizeBytes, figures));
      }
      const [streamed = 0, byDisk = 0, bySdk = 0] = seconds.slice(-3);
      const ratios = `streamed ${(bySdk / streamed).toFixed(2)}, by the disk ${(bySdk / byDisk).toFixed(2)}`;
      process.stdout.write(`archive in a bucket : download, then upload by the SDK: ${ratios}\n`);
      process.stdout.write(
        textOf('curl -T', sizeBytes, { seconds: await curl({ service, storage, folder, sizeBytes }) }),
      );
    }
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Bench {
  readonly service: ReferenceService;
  readonly storage: S3Server;
  readonly folder: string;
  readonly sizeBytes: number;
}

async function measure(way: string, { service, storage, folder, sizeBytes }: Bench): Promise<Figures> {
  // The service's own bucket: only the names tell the archive apart.
  const place = way === 'archive in a folder' ? join(folder, 'archive') : service.bucket;
  const file = join(folder, 'film.mp4');
  const args = [way, service.url, service.apiKey, file, String(sizeBytes), place];
  const program = ['--import', require.resolve('tsx'), join(__dirname, 'transfer-process.ts')];
  const { stdout } = await promisify(execFile)(process.execPath, [...program, ...args], {
    env: {
      ...process.env,
      AWS_ENDPOINT_URL_S3: storage.endpoint,
      AWS_REGION: storage.region,
      AWS_ACCESS_KEY_ID: storage.rootAccessKeyId,
      AWS_SECRET_ACCESS_KEY: storage.rootSecretAccessKey,
    },
  });
  return JSON.parse(stdout) as Figures;
}

/** The same file by a tool that does nothing but send. */
async function curl({ service, storage, folder, sizeBytes }: Bench): Promise<number> {
  const file = join(folder, 'film.mp4');
  const config = join(folder, 'curl.conf');
  writeFileSync(file, '');
  truncateSync(file, sizeBytes);
  writeFileSync(config, `user = "${storage.rootAccessKeyId}:${storage.rootSecretAccessKey}"\n`, { mode: 0o600 });
  const startedMs = performance.now();
  await promisify(execFile)('curl', [
    ...['--silent', '--show-error', '--fail', '--config', config],
    ...['--aws-sigv4', `aws:amz:${storage.region}:s3`, '--header', 'x-amz-content-sha256: UNSIGNED-PAYLOAD'],
    ...['--upload-file', file, `${storage.endpoint}/${service.bucket}/bench/curl.mp4`],
  ]);
  return (performance.now() - startedMs) / 1000;
}

function textOf(way: string, sizeBytes: number, { seconds, ...use }: Partial<Figures> & { seconds: number }): string {
  const { idleBytes = 0, peakBytes = 0, cpuSeconds } = use;
  const speed = `${mebibytes(sizeBytes / seconds)}/s`;
  const memory = cpuSeconds === undefined ? '' : `, idle ${mebibytes(idleBytes)} + ${mebibytes(peakBytes - idleBytes)}`;
  return `${way.padEnd(32)} ${speed.padStart(10)}${memory}${cpuSeconds === undefined ? '' : `, ${cpuSeconds.toFixed(1)} s of CPU`}\n`;
}

void main();
