import { activityInfo, cancellationSignal, log } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { ArchiveOutputsInput, ArchiveOutputsResult } from '../contract/activities';
import { failureTypes } from '../contract/failure-types';
import type { OutputItem, ServiceClient } from '../service';
import type { ArchivedFile, Expectation } from '../storage/archive';
import { download } from '../storage/download';
import { DownloadError } from '../storage/errors';
import { serviceOf } from './account-service';
import { CreateRecordFile } from './create-record';
import type { ActivityDependencies } from './dependencies';
import { withHeartbeat } from './heartbeat';
import { fileName, formerFiles, type KeptOutput, toManifest } from './manifest';
import { outputNamesOf } from './output-names';

/** A success that lists no output is asked again this often: its outputs may be late (specification, section 3). */
const lateOutputAttempts = 5;
/** Fresh links are asked for this often for one output before the attempt is given up. */
const maxLinkRefreshes = 2;

/**
 * Fetches every output whole with links of its own asking (specification, section 4.3), then writes the manifest. A
 * file has its final name only when it is whole, so a repeated attempt goes on where the former one ended.
 */
export async function archiveOutputs(
  parts: ActivityDependencies,
  input: ArchiveOutputsInput,
): Promise<ArchiveOutputsResult> {
  const progress = { name: input.requestId, bytes: 0, totalBytes: null as number | null };
  return await withHeartbeat(
    () => ({ transfer: 'archive', ...progress }),
    async () => {
      const service = serviceOf(parts, input.account);
      const outputs = await listOutputs(service, input);
      const names = outputNamesOf(input);
      const former = await formerFiles(parts.archive, names.manifest, input.requestId);
      const kept: KeptOutput[] = [];
      for (const [index, item] of outputs.entries()) {
        const name = names.output(index, item.ext);
        Object.assign(progress, { name, bytes: 0, totalBytes: null });
        const fetcher = new OutputFetcher(parts, service, input, progress);
        const was = former.get(fileName(name)) ?? (names.areItsOwn ? {} : undefined);
        kept.push({ item, name, file: isFile(item) ? await fetcher.fetch(item, index, name, was) : null });
      }
      return await writeManifest(parts, input, names.manifest, kept);
    },
  );
}

async function writeManifest(
  { archive }: ActivityDependencies,
  input: ArchiveOutputsInput,
  name: string,
  kept: readonly KeptOutput[],
): Promise<ArchiveOutputsResult> {
  const workflowId = activityInfo().workflowExecution?.workflowId ?? null;
  if (workflowId !== null && input.createNumber !== undefined) {
    await new CreateRecordFile(archive, workflowId, input.createNumber).settle(input.requestId);
  }
  await archive.replace(name, `${JSON.stringify(toManifest(workflowId, input, kept), null, 2)}\n`);
  const outputs = kept.flatMap(({ item: { ext, auditStatus, errorType }, file }) => {
    return file === null ? [] : [{ ...file, ext, auditStatus, errorType }];
  });
  log.info('archived', { requestId: input.requestId, outputs: outputs.length });
  return { outputs, manifest: archive.locate(name) };
}

async function listOutputs(service: ServiceClient, input: ArchiveOutputsInput): Promise<readonly OutputItem[]> {
  const { outputs } = await service.getOutputs(input.requestId, { signal: cancellationSignal() });
  if (outputs.length > 0 || input.status === 'Failed') return outputs;
  throw ApplicationFailure.create({
    type: failureTypes.SuccessNoOutputs,
    message: `The task ${input.requestId} succeeded, but the service lists no output of it.`,
    nonRetryable: activityInfo().attempt >= lateOutputAttempts,
  });
}

/** Whether there is a file to keep: the service marks a failed output by its error type (specification, section 2.4). */
function isFile(item: OutputItem): boolean {
  return item.errorType === 'NOT_ERROR';
}

/** Fetches one output, asking for fresh links when its own has ended. */
class OutputFetcher {
  private readonly parts: ActivityDependencies;
  private readonly service: ServiceClient;
  private readonly requestId: string;
  private readonly progress: { bytes: number; totalBytes: number | null };

  constructor(
    parts: ActivityDependencies,
    service: ServiceClient,
    { requestId }: ArchiveOutputsInput,
    progress: { bytes: number; totalBytes: number | null },
  ) {
    this.parts = parts;
    this.service = service;
    this.requestId = requestId;
    this.progress = progress;
  }

  /** Keeps what is there already if it is as it `was`; without knowing that, it is fetched anew. */
  async fetch(item: OutputItem, index: number, name: string, was: Expectation | undefined): Promise<ArchivedFile> {
    const signal = cancellationSignal();
    const there = was === undefined ? undefined : await this.parts.archive.whole(name, was, signal);
    if (there !== undefined) return there;
    let link = item.objectUrl;
    for (let refreshes = 0; ; refreshes += 1) {
      try {
        return await this.fetchFrom(link, name, signal);
      } catch (error) {
        if (refreshes >= maxLinkRefreshes || !isExpired(error)) throw error;
        link = (await this.service.getOutputs(this.requestId, { signal })).outputs[index]?.objectUrl;
      }
    }
  }

  private async fetchFrom(link: string | undefined, name: string, signal: AbortSignal): Promise<ArchivedFile> {
    if (link === undefined) throw new DownloadError('LINK_INVALID', `the service gives no link for ${name}`);
    const onProgress = (bytes: number): void => {
      this.progress.bytes = bytes;
    };
    const { body, sizeBytes } = await download(link, { dispatcher: this.parts.downloads, signal, onProgress });
    this.progress.totalBytes = sizeBytes ?? null;
    const expected = sizeBytes === undefined ? {} : { bytes: sizeBytes };
    return await this.parts.archive.put(name, body, expected, signal);
  }
}

function isExpired(error: unknown): boolean {
  return error instanceof DownloadError && error.code === 'LINK_EXPIRED';
}
