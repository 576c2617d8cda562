import { finished } from 'node:stream/promises';
import { activityInfo } from '@temporalio/activity';
import type { ArchiveOutputsInput, TransferProgress } from '../contract/activities';
import { addressHost } from '../domain/uri';
import type { OutputItem, TaskOutputs } from '../service';
import type { ArchivedFile } from '../storage/archive/archive';
import { type Download, download } from '../storage/download';
import { DownloadError } from '../storage/errors';
import { atMinimumRate, TooSlowError } from '../storage/minimum-rate';
import type { ActivityDependencies } from './dependencies';
import type { Output } from './manifest';
import type { OutputList } from './output-list';
import { noOutputLimits, OutputAllowance, type OutputLimits, type RunningTransfer } from './output-limits';

/** Outputs of one task that are fetched at the same time. */
const fetchesAtOnce = 4;
/** Fresh links are asked for this often for one output before it is given up for this attempt. */
const maxLinkRefreshes = 2;
/** In all, this often more than outputs were fetched: links that have ended all at once need one question. */
const spareLinkRefreshes = 4;
/** So many attempts count an output as missing that the service reports as failed, or without any word, before it is reported as failed. */
const vagueOutputAttempts = 5;

/** What an {@link OutputFetch} works with. */
export interface OutputFetchOptions {
  readonly dependencies: Pick<ActivityDependencies, 'archive' | 'downloads' | 'outputLimits' | 'traces'>;
  readonly status: ArchiveOutputsInput['status'];
  readonly list: OutputList;
  /** Whether no other task has these names: what is there under one is then this task's. */
  readonly areNamesItsOwn: boolean;
  /** Asks the service for the outputs with fresh links. */
  readonly refresh: () => Promise<TaskOutputs>;
  readonly signal: AbortSignal;
}

/** One attempt to bring every output of a list into the archive, several side by side; one that fails holds up no other. */
export class OutputFetch {
  readonly #options: OutputFetchOptions;
  readonly #list: OutputList;
  readonly #running = new Map<Output, RunningTransfer>();
  readonly #limits: OutputLimits;
  readonly #allowance: OutputAllowance;
  #next = 0;
  #bytes = 0;
  #fetched = 0;
  #refreshes = 0;
  #refreshing: Promise<void> | undefined;

  constructor(options: OutputFetchOptions) {
    this.#options = options;
    this.#list = options.list;
    const { archive, outputLimits = noOutputLimits } = options.dependencies;
    this.#limits = outputLimits;
    this.#allowance = new OutputAllowance(outputLimits, archive, this.#running);
  }

  /** How far it is, in a heartbeat that is as small for a thousand outputs as for one. */
  progress(): TransferProgress {
    const { outputs } = this.#list;
    const [[only, transfer] = []] = this.#running;
    if (outputs.length === 1 && only !== undefined && transfer !== undefined) {
      return { transfer: 'archive', name: only.name, ...transfer };
    }
    const running = [...this.#running.values()].reduce((sum, { bytes }) => sum + bytes, 0);
    const name = `${outputs.filter(({ file }) => file !== null).length} of ${outputs.length} outputs`;
    return { transfer: 'archive', name, bytes: this.#bytes + running, totalBytes: null };
  }

  /**
   * Fetches what is not archived yet. Afterwards each output has its file, or its problem, or neither if the service
   * reports it as failed. Throws only the signal's reason, when nothing is on its way any more.
   */
  async fetchAll(): Promise<void> {
    const { signal } = this.#options;
    // The list may grow meanwhile.
    const fetchNext = async (): Promise<void> => {
      for (let output = this.#takeNext(); output !== undefined; output = this.#takeNext()) {
        signal.throwIfAborted();
        await this.#process(output);
      }
    };
    await Promise.allSettled(Array.from({ length: fetchesAtOnce }, fetchNext));
    signal.throwIfAborted();
  }

  #takeNext(): Output | undefined {
    const output = this.#list.outputs[this.#next];
    if (output !== undefined) this.#next += 1;
    return output;
  }

  async #process(output: Output): Promise<void> {
    output.problem = undefined;
    try {
      const file = (await this.#findArchived(output)) ?? (await this.#fetch(output));
      this.#allowance.add(file);
      output.file = file;
    } catch (error) {
      this.#options.signal.throwIfAborted();
      if (!isToldAsFailed(output.item, error, this.#options.status)) output.problem = error;
    } finally {
      this.#running.delete(output);
    }
  }

  /** Keeps what is there already if it is as it was; without knowing that, it is fetched anew. */
  async #findArchived({ name, was }: Output): Promise<ArchivedFile | undefined> {
    const { dependencies, signal, areNamesItsOwn } = this.#options;
    const expected = was ?? (areNamesItsOwn ? {} : undefined);
    return expected === undefined ? undefined : await dependencies.archive.find(name, expected, signal);
  }

  async #fetch(output: Output): Promise<ArchivedFile> {
    for (let refreshes = 0; ; refreshes += 1) {
      const atRefresh = this.#refreshes;
      try {
        const file = await this.#traced(output, () => this.#fetchFrom(output));
        this.#fetched += 1;
        this.#bytes += file.bytes;
        return file;
      } catch (error) {
        if (refreshes >= maxLinkRefreshes || !isDeadLink(error) || isFailed(output.item)) throw error;
        if (!(await this.#refreshLinks(atRefresh))) throw error;
      }
    }
  }

  async #traced(output: Output, fetchIt: () => Promise<ArchivedFile>): Promise<ArchivedFile> {
    const { traces } = this.#options.dependencies;
    const { objectUrl = '' } = output.item;
    return await (traces === undefined ? fetchIt() : traces.transfer('download', addressHost(objectUrl), fetchIt));
  }

  async #fetchFrom(output: Output): Promise<ArchivedFile> {
    const { minimumRate: rate } = this.#limits;
    const tooMuch = new AbortController();
    const signal = AbortSignal.any([this.#options.signal, tooMuch.signal]);
    let putting: Promise<ArchivedFile> | undefined;
    try {
      await this.#allowance.check(output, undefined);
      await atMinimumRate({ rate, signal }, async (either = signal, onBytes) => {
        const watch = this.#allowance.watch(output, (error) => {
          tooMuch.abort(error);
        });
        const { body, sizeBytes } = await this.#open(output, either, (bytes) => {
          onBytes(bytes);
          watch(bytes);
        });
        putting = this.#options.dependencies.archive.put(
          output.name,
          body,
          sizeBytes === undefined ? {} : { bytes: sizeBytes },
          either,
        );
        // What follows in the archive takes its own time; `putting` tells how the content ended.
        await Promise.race([finished(body).catch(() => undefined), putting]);
      });
      return await (putting ?? Promise.reject(new Error('The output was not put.')));
    } catch (error) {
      if (!(error instanceof TooSlowError) || rate === undefined) throw error;
      const remedy = 'lower LONGHAUL_MIN_OUTPUT_BYTES_PER_SECOND of the worker if that is as fast as it gets';
      throw new DownloadError('DOWNLOAD_TOO_SLOW', `it comes too slowly: ${error.toText(rate)}; ${remedy}`);
    }
  }

  async #open(output: Output, signal: AbortSignal, onProgress: (bytes: number) => void): Promise<Download> {
    const { objectUrl } = output.item;
    if (objectUrl === undefined) throw new DownloadError('LINK_INVALID', 'the service gives no link for it');
    const transfer: RunningTransfer = { bytes: 0, totalBytes: null };
    this.#running.set(output, transfer);
    const opened = await download(objectUrl, {
      dispatcher: this.#options.dependencies.downloads,
      signal,
      onProgress: (bytes) => {
        transfer.bytes = bytes;
        onProgress(bytes);
      },
    });
    output.contentEncoding = opened.contentEncoding ?? null;
    // Before the check, which counts what the others will have.
    transfer.totalBytes = opened.sizeBytes ?? null;
    try {
      await this.#allowance.check(output, opened.sizeBytes);
    } catch (error) {
      opened.body.destroy();
      throw error;
    }
    return opened;
  }

  /** Whether there are links that are newer than those of that refresh; one question serves all who wait. */
  async #refreshLinks(than: number): Promise<boolean> {
    if (this.#refreshes > than) return true;
    if (this.#refreshing === undefined) {
      if (this.#refreshes >= spareLinkRefreshes + this.#fetched) return false;
      this.#refreshing = this.#options
        .refresh()
        .then(({ outputs }) => {
          this.#list.update(outputs);
          this.#refreshes += 1;
        })
        .finally(() => (this.#refreshing = undefined));
    }
    await this.#refreshing;
    return true;
  }
}

/** Whether a link leads to no file, or there is none: what is left of results that have expired. */
export function isDeadLink(error: unknown): boolean {
  return error instanceof DownloadError && (error.code === 'LINK_EXPIRED' || error.code === 'LINK_INVALID');
}

/** Whether a storage gave it too slowly. */
export function isTooSlow(error: unknown): boolean {
  return error instanceof DownloadError && error.code === 'DOWNLOAD_TOO_SLOW';
}

/** The service marks a failed output by its error type (specification, section 2.4). */
function isFailed({ errorType }: OutputItem): boolean {
  return errorType !== 'NOT_ERROR';
}

/**
 * Whether an output that could not be fetched is one that the service reports as failed. One without a link and without
 * a word may be late at first.
 */
function isToldAsFailed(item: OutputItem, error: unknown, status: ArchiveOutputsInput['status']): boolean {
  if (status === 'Failed' && item.objectUrl === undefined) return true;
  if (!isFailed(item)) return false;
  const isVague = !isDeadLink(error) || (item.errorType === 'UNKNOWN' && item.errorMessage === undefined);
  return !isVague || activityInfo().attempt >= vagueOutputAttempts;
}
