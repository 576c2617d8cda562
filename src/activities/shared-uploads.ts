import { log } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { CommittedInput } from '../contract/activities';
import { errorMessage } from '../core/text';
import { parseUploadRecord, type UploadContent, uploadRecordName, uploadRecordText } from '../archive/upload-record';
import type { ServiceClient } from '../service';
import { commitObject } from '../service/file-upload';
import { isResourceOf, type UploadedObject } from '../service/inputs';
import type { Archive } from '../storage/archive/archive';
import { toApplicationFailure } from './to-application-failure';

export interface ContentUpload {
  readonly service: ServiceClient;
  readonly put: () => Promise<UploadedObject>;
  readonly signal: AbortSignal;
}

interface Known {
  readonly resource: CommittedInput;
  readonly untilMs: number;
}

interface Flight {
  readonly landing: Promise<CommittedInput>;
  readonly signal: AbortSignal;
}

const knownForMs = 30_000;
const maxRemembered = 10_000;

/** One upload per account and content, recorded in the archive, while the service lists it. */
export class SharedUploads {
  readonly #archive: Archive;
  readonly #knownForMs: number;
  readonly #known = new Map<string, Known>();
  readonly #flights = new Map<string, Flight>();
  /** Uploaded but not committed: the next attempt need not upload it again. */
  readonly #uncommitted = new Map<string, UploadedObject>();

  /** @param forMs - how long a resource counts as there after it was last seen */
  constructor(archive: Archive, forMs = knownForMs) {
    this.#archive = archive;
    this.#knownForMs = forMs;
  }

  /** The recorded resource while the service lists it, or a new one. All who wait share an error. */
  async resourceOf(content: UploadContent, upload: ContentUpload): Promise<CommittedInput> {
    const name = uploadRecordName(content);
    const { signal } = upload;
    for (;;) {
      signal.throwIfAborted();
      const known = this.#known.get(name);
      if (known !== undefined && performance.now() < known.untilMs) return known.resource;
      const flight = this.#flights.get(name);
      if (flight === undefined) {
        const landing = this.#recordedOrNew(name, content, upload).finally(() => this.#flights.delete(name));
        this.#flights.set(name, { landing, signal });
        return await landing;
      }
      try {
        return await orAborted(flight.landing, signal);
      } catch (error) {
        // After a stopped task another one uploads.
        if (!flight.signal.aborted) throw error;
      }
    }
  }

  async #recordedOrNew(name: string, content: UploadContent, upload: ContentUpload): Promise<CommittedInput> {
    const recorded = await this.#recorded(name, content, upload);
    const resource = recorded ?? (await this.#upload(name, upload));
    if (recorded === undefined) {
      await this.#archive.replace(name, uploadRecordText(content, resource)).catch((error: unknown) => {
        log.warn('upload record not kept', { name, error: errorMessage(error) });
      });
    }
    remember(this.#known, name, { resource, untilMs: performance.now() + this.#knownForMs });
    return resource;
  }

  /** Undefined without a record, or when its resource is gone. */
  async #recorded(
    name: string,
    content: UploadContent,
    { service, signal }: ContentUpload,
  ): Promise<CommittedInput | undefined> {
    const resource = parseUploadRecord(await this.#archive.read(name), content);
    if (resource === undefined) return undefined;
    const { list } = await service.listInputs({ objectKey: resource.objectKey }, { signal });
    // A service that was reset reuses ids of earlier resources.
    const isListed = list.some((one) => one.id === resource.resourceId && isResourceOf(one, resource));
    return isListed ? { ...resource, wasListed: true } : undefined;
  }

  async #upload(name: string, { service, put, signal }: ContentUpload): Promise<CommittedInput> {
    const previous = this.#uncommitted.get(name);
    const object = previous ?? (await put());
    this.#uncommitted.delete(name);
    try {
      return await commitUpload(service, object, { mayBeCommitted: previous !== undefined, signal });
    } catch (error) {
      const failure = toApplicationFailure(error, null, () => false);
      const isFinal = failure instanceof ApplicationFailure && failure.nonRetryable === true;
      if (signal.aborted || !isFinal) remember(this.#uncommitted, name, object);
      throw error;
    }
  }
}

function remember<Value>(map: Map<string, Value>, name: string, value: Value): void {
  map.delete(name);
  map.set(name, value);
  const [oldest] = map.keys();
  if (map.size > maxRemembered && oldest !== undefined) map.delete(oldest);
}

async function orAborted<Value>(coming: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const over = new AbortController();
  const aborted = new Promise<never>((_resolve, reject) => {
    const onAbort = (): void => {
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', onAbort, { signal: over.signal });
  });
  try {
    return await Promise.race([coming, aborted]);
  } finally {
    over.abort();
  }
}

/** Without the link, which must not enter a history. */
export async function commitUpload(
  service: ServiceClient,
  { objectKey, name }: UploadedObject,
  choices: { readonly mayBeCommitted: boolean; readonly signal: AbortSignal },
): Promise<CommittedInput> {
  const { id } = await commitObject(service, { objectKey, name }, choices);
  return { resourceId: id, name, objectKey };
}
