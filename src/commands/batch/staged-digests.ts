import type { StagingConfig } from '../../config/client-config';
import { inputDigest } from '../../contract/task-input';
import { inspectInputFile, type PreparedRow, stageInputs } from '../../rows';

/** So much of input files a check reads; their content is hashed at some hundred megabytes a second. */
export const maxReadBytes = 2 * 1024 ** 3;

/** The digests that rows have when they are staged, where their files are named by their content; nothing is sent. */
export class StagedDigests {
  readonly #read: (path: string) => Promise<string>;
  /** By path; null for a file that is not read. */
  readonly #uris = new Map<string, string | null>();
  #leftBytes: number;

  private constructor(read: (path: string) => Promise<string>, mostBytes: number) {
    this.#read = read;
    this.#leftBytes = mostBytes;
  }

  static async open(place: StagingConfig, mostBytes = maxReadBytes): Promise<StagedDigests> {
    // The AWS SDK takes half a second to load.
    const { stagedUri } = await import('../../storage/staging.js');
    const { hashFile } = await import('../../storage/hash.js');
    return new StagedDigests(async (path) => stagedUri(place, (await hashFile(path)).sha256, path), mostBytes);
  }

  /** Undefined for a row whose files are too large to be read here, or cannot be. */
  async digestOf({ input }: Pick<PreparedRow, 'input'>): Promise<string | undefined> {
    const unread: string[] = [];
    const keepInput = async (path: string): Promise<string> => {
      const uri = await this.#uriOf(path);
      if (uri === null) unread.push(path);
      return uri ?? path;
    };
    const [inputs = {}] = await stageInputs({ keepInput }, [input.inputs]);
    return unread.length === 0 ? inputDigest({ ...input, inputs }) : undefined;
  }

  async #uriOf(path: string): Promise<string | null> {
    const known = this.#uris.get(path);
    if (known !== undefined) return known;
    const bytes = await inspectInputFile(path, '');
    const isRead = typeof bytes === 'number' && bytes <= this.#leftBytes;
    if (isRead) this.#leftBytes -= bytes;
    // One that vanishes meanwhile is a bad row of the run.
    const uri = isRead ? await this.#read(path).catch(() => null) : null;
    this.#uris.set(path, uri);
    return uri;
  }
}
