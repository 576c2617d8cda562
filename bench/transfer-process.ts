import { createReadStream, createWriteStream, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { ServiceClient } from '../src/service';
import type { Archive } from '../src/storage/archive/archive';
import { createDownloadAgent, download } from '../src/storage/download';
import { ConnectionRule } from '../src/storage/connection-rule';
import { openArchive } from '../src/storage/archive/open-archive';
import { defaultPartPlan } from '../src/storage/s3/put-object';
import { uploadInput, type UploadInput } from '../src/storage/upload';

/*
 * A process of its own, so that the memory it measures is its own: moves a small file, then a large one, and prints one
 * line of JSON about the large one. `url` and `apiKey` are the service's, `place` is a folder or a bucket's prefix.
 */
const [, , way = '', url = '', apiKey = '', file = '', bytes = '', place = ''] = process.argv;

/** As a worker's: the service says where the storage is. */
const rule = new ConnectionRule({ hosts: [], serviceHosts: [new URL(url).hostname] });

async function main(): Promise<void> {
  const service = new ServiceClient({ baseUrl: url, apiKey: () => apiKey });
  const move = way.startsWith('upload') ? uploader(service) : archiver(service);
  await move(64 * 1024);
  const idleBytes = process.memoryUsage.rss();
  const idleCpu = process.cpuUsage();
  let peakBytes = idleBytes;
  const timer = setInterval(() => {
    peakBytes = Math.max(peakBytes, process.memoryUsage.rss());
  }, 10);
  const seconds = await move(Number(bytes));
  clearInterval(timer);
  const { user, system } = process.cpuUsage(idleCpu);
  const cpuSeconds = (user + system) / 1e6;
  process.stdout.write(`${JSON.stringify({ idleBytes, peakBytes, seconds, cpuSeconds })}\n`);
  await service.close();
}

/** Moves a file of so many bytes; resolves to the seconds it took. */
type Move = (sizeBytes: number) => Promise<number>;

function uploader(service: ServiceClient): Move {
  const aboveBytes = way === 'upload in one PUT' ? Number.POSITIVE_INFINITY : defaultPartPlan.aboveBytes;
  return async (sizeBytes) => {
    const token = await madeFile(service, sizeBytes);
    const startedMs = performance.now();
    await upload({ token, sizeBytes, contentType, parts: { ...defaultPartPlan, aboveBytes } });
    return (performance.now() - startedMs) / 1000;
  };
}

async function upload(input: Omit<UploadInput, 'file' | 'rule'>): Promise<void> {
  const opened = await open(file);
  try {
    await uploadInput({ ...input, rule, file: opened });
  } finally {
    await opened.close();
  }
}

function archiver(service: ServiceClient): Move {
  const keep = way.startsWith('archive') ? keeper() : sdkKeeper();
  return async (sizeBytes) => {
    const token = await madeFile(service, sizeBytes);
    await upload({ token, sizeBytes, contentType });
    const { url: link } = await service.commitInput({ name: 'film.mp4', objectKey: token.objectKey });
    const startedMs = performance.now();
    await keep(link, sizeBytes);
    return (performance.now() - startedMs) / 1000;
  };
}

type Keep = (link: string, sizeBytes: number) => Promise<void>;

function keeper(): Keep {
  const archive = openedArchive();
  const isFirst = !way.endsWith('by the disk');
  return async (link, sizeBytes) => {
    const dispatcher = createDownloadAgent(rule);
    const { body } = await download(link, { dispatcher, expectedBytes: sizeBytes });
    await archive.put(`bench/${String(sizeBytes)}.mp4`, body, { bytes: sizeBytes, isFirst });
    await dispatcher.close();
  };
}

/** As a script would do it: nothing is checked or hashed. */
function sdkKeeper(): Keep {
  const client = new S3Client({ forcePathStyle: true });
  const path = `${file}.download`;
  return async (link, sizeBytes) => {
    const { body } = await fetch(link);
    if (body === null) throw new Error('The link brought nothing.');
    await pipeline(Readable.fromWeb(body), createWriteStream(path));
    const object = { Bucket: place, Key: `bench/${String(sizeBytes)}-by-sdk.mp4`, ContentLength: sizeBytes };
    await client.send(new PutObjectCommand({ ...object, Body: createReadStream(path) }));
    rmSync(path);
  };
}

function openedArchive(): Archive {
  if (way === 'archive in a folder') return openArchive({ kind: 'folder', path: place });
  return openArchive({ kind: 's3', bucket: place, prefix: 'archive', isPathStyle: true });
}

const contentType = 'video/mp4';

async function madeFile(service: ServiceClient, sizeBytes: number): ReturnType<ServiceClient['getUploadToken']> {
  writeFileSync(file, '');
  truncateSync(file, sizeBytes);
  return await service.getUploadToken('film.mp4');
}

void main();
