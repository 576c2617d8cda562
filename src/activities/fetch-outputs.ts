import { dirname } from 'node:path/posix';
import { setTimeout as delay } from 'node:timers/promises';
import { finished } from 'node:stream/promises';
import { activityInfo } from '@temporalio/activity';
import type { ArchiveOutputsInput, TransferProgress } from '../contract/activities';
import { addressHost } from '../core/uri';
import type { OutputItem, TaskOutputs } from '../service';
import type { ArchivedFile } from '../storage/archive/archive';
import { type Download, download } from '../storage/download';
import { DownloadError, UnprovenEndError } from '../storage/errors';
import { hashStream } from '../storage/hash';
import { atMinimumRate } from '../storage/minimum-rate';
import type { ActivityDependencies } from './dependencies';
import type { Output, OutputNames } from './manifest';
import { isFailed, type OutputList } from './output-list';
import { noOutputLimits, OutputAllowance, type OutputLimits, type RunningTransfer } from './output-limits';

const fetchesAtOnce = 4;
const maxLinkRefreshes = 2;
/** Beyond one for each fetched output; links that expire together need one refresh. */
const spareLinkRefreshes = 4;
/** After so many attempts, two minutes, an output counts as missing though the service gives no clear failure. */
const vagueOutputAttempts = 8;
/** Per attempt: links may expire while outputs are placed by content. */
const maxPlacings = 3;
const rememberAfterMs = 1_000;

export interface OutputFetchOptions {
  readonly dependencies: Pick<ActivityDependencies, 'archive' | 'downloads' | 'outputLimits' | 'traces'>;
  readonly status: ArchiveOutputsInput['status'];
  readonly list: OutputList;
  readonly refresh: () => Promise<TaskOutputs>;
  readonly remember: () => Promise<void>;
  readonly signal: AbortSignal;
  readonly names: Pick<OutputNames, 'manifest'>;
  /** Whether no attempt before has written there. */
  readonly isFree: boolean;
}

type Keep<T> = (opened: Download, signal: AbortSignal) => Promise<T>;

export class OutputFetch {
  readonly #options: OutputFetchOptions;
  readonly #list: OutputList;
  readonly #running = new Map<Output, RunningTransfer>();
  readonly #limits: OutputLimits;
  readonly #allowance: OutputAllowance;
  readonly #problems: unknown[] = [];
  readonly #again: Output[] = [];
  #next = 0;
  readonly #end = new AbortController();
  #remembering: Promise<void> | undefined;
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

  /** Of a fixed size, however many outputs there are. */
  progress(): TransferProgress {
    const { outputs } = this.#list;
    const [[only, running] = []] = this.#running;
    if (outputs.length === 1 && only !== undefined && running !== undefined) {
      return { transfer: 'archive', name: only.name, ...running };
    }
    const bytes = [...this.#running.values()].reduce((sum, transfer) => sum + transfer.bytes, this.#bytes);
    const name = `${outputs.filter(({ file }) => file !== null).length} of ${outputs.length} outputs`;
    return { transfer: 'archive', name, bytes, totalBytes: null };
  }

  get problems(): readonly unknown[] {
    return this.#problems;
  }

  /** Afterwards each output has its file, its problem, or neither if the service reports it as failed. */
  async fetchAll(): Promise<void> {
    try {
      await this.#fetchEach();
      for (let placings = 0; this.#list.unplaced > 0 && placings < maxPlacings; placings += 1) {
        await this.#placeByContent();
        await this.#fetchEach();
      }
      if (this.#list.unplaced > 0) this.#problems.push(new DownloadError('LINK_EXPIRED', 'links end too soon to tell'));
    } finally {
      this.#end.abort();
      await this.#remembering;
    }
  }

  async #fetchEach(): Promise<void> {
    const takeNext = (): Output | undefined => {
      const again = this.#again.shift();
      if (again !== undefined) return again;
      const output = this.#list.outputs[this.#next];
      if (output !== undefined) this.#next += 1;
      return output;
    };
    await this.#inParallel(takeNext, (output) => this.#process(output));
  }

  async #inParallel<T>(takeNext: () => T | undefined, process: (one: T) => Promise<void>): Promise<void> {
    const { signal } = this.#options;
    const work = async (): Promise<void> => {
      for (let one = takeNext(); one !== undefined; one = takeNext()) {
        signal.throwIfAborted();
        await process(one);
      }
    };
    const ends = await Promise.allSettled(Array.from({ length: fetchesAtOnce }, work));
    signal.throwIfAborted();
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  }

  /** Places items by content where links do not tell which outputs they are; unmatched ones become new outputs. */
  async #placeByContent(): Promise<void> {
    const atRefresh = this.#refreshes;
    const items = [...this.#list.takeUnplaced()];
    const others: OutputItem[] = [];
    this.#problems.length = 0;
    await this.#inParallel(
      () => (this.#refreshes > atRefresh ? undefined : items.shift()),
      async (item) => {
        const problem = await this.#findPlace(item, others, atRefresh).catch((error: unknown) => error);
        if (problem !== undefined) this.#problems.push(problem);
      },
    );
    // Fresh links place everything anew.
    if (this.#refreshes > atRefresh) return;
    const placed = others.map((item) => this.#list.place(item));
    // An unplaced item may still be one without a link; the attempt is incomplete in any case.
    if (this.#problems.length === 0) placed.push(...this.#list.placeLinkless());
    this.#again.push(...placed.filter(({ index, file }) => index < this.#next && file === null));
  }

  /** Claims the output with the item's content, or adds the item to `others`. Returns the error if it cannot tell. */
  async #findPlace(item: OutputItem, others: OutputItem[], atRefresh: number): Promise<unknown> {
    try {
      const sha256 = this.#list.mayBeArchived(item) ? await this.#measure(item) : null;
      // Fresh links came meanwhile: the item is of an outdated list.
      if (this.#refreshes > atRefresh) return undefined;
      if (sha256 === null || !this.#list.claim(item, sha256)) others.push(item);
      return undefined;
    } catch (error) {
      this.#options.signal.throwIfAborted();
      if (isToldAsFailed(item, error, this.#options.status)) others.push(item);
      else if (!isDeadLink(error) || !(await this.#refreshLinks(atRefresh))) return error;
      return undefined;
    }
  }

  async #process(output: Output): Promise<void> {
    output.problem = undefined;
    try {
      const { name, was } = output;
      const { dependencies, signal } = this.#options;
      // Only a manifest of this task proves that the file with this name is this output.
      const found = was === undefined ? undefined : await dependencies.archive.find(name, was, signal);
      const file = found ?? (await this.#fetch(output));
      this.#allowance.add(file);
      output.file = file;
      if (found === undefined) this.#rememberSoon();
    } catch (error) {
      this.#options.signal.throwIfAborted();
      if (!isToldAsFailed(output.item, error, this.#options.status)) output.problem = error;
    } finally {
      this.#running.delete(output);
    }
  }

  #rememberSoon(): void {
    this.#remembering ??= delay(rememberAfterMs, undefined, { signal: this.#end.signal })
      .then(() => this.#options.remember())
      .catch(() => undefined)
      .finally(() => {
        this.#remembering = undefined;
      });
  }

  async #measure(item: OutputItem): Promise<string> {
    const draft = this.#list.draft(item);
    const measure = (): Promise<string> =>
      this.#transfer(draft, async ({ body }, signal) => (await hashStream(body, signal)).sha256);
    try {
      return await measure();
    } catch (error) {
      if (!(error instanceof UnprovenEndError)) throw error;
      if (error.came.algorithm === 'sha256') return error.came.digest;
      draft.earlier = error.came;
      return await measure();
    } finally {
      this.#running.delete(draft);
    }
  }

  async #fetch(output: Output): Promise<ArchivedFile> {
    const { names, isFree: isFirst } = this.#options;
    const { archive, traces } = this.#options.dependencies;
    // The manifest of the same folder is written afterwards, and flushes their names.
    const isFlushedLater = dirname(output.name) === dirname(names.manifest);
    const fetchIt = (): Promise<ArchivedFile> =>
      this.#transfer(output, ({ body, sizeBytes: bytes }, signal) =>
        archive.put(output.name, body, { bytes, isFirst, isFlushedLater }, signal),
      );
    for (let refreshes = 0; ;) {
      const atRefresh = this.#refreshes;
      try {
        const host = addressHost(output.item.objectUrl ?? '');
        const file = await (traces === undefined ? fetchIt() : traces.transfer('download', host, fetchIt));
        this.#fetched += 1;
        this.#bytes += file.bytes;
        return file;
      } catch (error) {
        if (error instanceof UnprovenEndError && output.earlier === undefined) {
          output.earlier = error.came;
          continue;
        }
        output.earlier = undefined;
        // An unplaced item has no link until it is placed.
        const isPlaced = output.item.objectUrl !== undefined || this.#list.unplaced === 0;
        if (refreshes >= maxLinkRefreshes || !isPlaced || !isDeadLink(error) || isFailed(output.item)) throw error;
        if (!(await this.#refreshLinks(atRefresh))) throw error;
        refreshes += 1;
      }
    }
  }

  async #transfer<T>(output: Output, keep: Keep<T>): Promise<T> {
    const { minimumRate: rate } = this.#limits;
    const tooMuch = new AbortController();
    const signal = AbortSignal.any([this.#options.signal, tooMuch.signal]);
    const tooSlow = (rates: string): DownloadError =>
      new DownloadError('DOWNLOAD_TOO_SLOW', `it comes too slowly: ${rates}`);
    let keeping: Promise<T> | undefined;
    let opened: Download | undefined;
    let received = 0;
    // The archive may take less than the link brings, which is over once everything has come.
    const isBlocked = (): boolean =>
      opened !== undefined &&
      (received === opened.sizeBytes || opened.body.readableLength >= opened.body.readableHighWaterMark);
    await this.#allowance.check(output, undefined);
    await atMinimumRate({ rate, signal, isBlocked, tooSlow }, async (either = signal, onBytes) => {
      const watch = this.#allowance.watch(output, (error) => {
        tooMuch.abort(error);
      });
      opened = await this.#open(output, either, (bytes) => {
        received = bytes;
        onBytes(bytes);
        watch(bytes);
      });
      keeping = keep(opened, either);
      // Archiving takes its own time; `keeping` tells how the content ended.
      await Promise.race([finished(opened.body).catch(() => undefined), keeping]);
    });
    return await (keeping ?? Promise.reject(new Error('The output was not opened.')));
  }

  async #open(output: Output, signal: AbortSignal, onProgress: (bytes: number) => void): Promise<Download> {
    const { objectUrl } = output.item;
    if (objectUrl === undefined) throw new DownloadError('LINK_INVALID', 'the service gives no link for it');
    const transfer: RunningTransfer = { bytes: 0, totalBytes: null };
    this.#running.set(output, transfer);
    const opened = await download(objectUrl, {
      dispatcher: this.#options.dependencies.downloads,
      signal,
      name: output.item.ext,
      earlier: output.earlier,
      onProgress: (bytes) => {
        transfer.bytes = bytes;
        onProgress(bytes);
      },
    });
    output.contentEncoding = opened.contentEncoding ?? null;
    output.isFetchedTwice = output.earlier !== undefined;
    // Before the check, which counts what the other transfers will take.
    transfer.totalBytes = opened.sizeBytes ?? null;
    try {
      await this.#allowance.check(output, opened.sizeBytes);
    } catch (error) {
      opened.body.destroy();
      throw error;
    }
    return opened;
  }

  async #refreshLinks(than: number): Promise<boolean> {
    if (this.#refreshes > than) return true;
    if (this.#refreshing === undefined && this.#refreshes >= spareLinkRefreshes + this.#fetched) return false;
    this.#refreshing ??= this.#options
      .refresh()
      .then(({ outputs }) => {
        this.#list.update(outputs);
        this.#refreshes += 1;
      })
      .finally(() => (this.#refreshing = undefined));
    await this.#refreshing;
    return true;
  }
}

/** The link leads to no file, or there is none: the results have expired. */
export function isDeadLink(error: unknown): boolean {
  return error instanceof DownloadError && (error.code === 'LINK_EXPIRED' || error.code === 'LINK_INVALID');
}

export function isTooSlow(error: unknown): boolean {
  return error instanceof DownloadError && error.code === 'DOWNLOAD_TOO_SLOW';
}

function isToldAsFailed(item: OutputItem, error: unknown, status: ArchiveOutputsInput['status']): boolean {
  if (status === 'Failed' && item.objectUrl === undefined) return true;
  if (!isFailed(item) || !isDeadLink(error)) return false;
  const isClear =
    item.objectUrl === undefined
      ? item.errorType !== 'UNKNOWN' || item.errorMessage !== undefined
      : item.errorType === 'EXECUTION_ERROR';
  return isClear || activityInfo().attempt >= vagueOutputAttempts;
}
