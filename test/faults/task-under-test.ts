import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EndpointName } from '../../reference-service/endpoint-name';
import type { LedgerEntry } from '../../reference-service/ledger';
import type { TaskHandle } from '../../src/client/task/task-handle';
import type { NewTaskInput, TaskTuning } from '../../src/contract/task-input';
import type { StorageServer } from '../../reference-service/storage/storage-server';
import type { ProcessStack } from '../support/process-stack';

/** The reference service's app that hands a file back byte for byte. */
const courier = 11;
/** So that a quarter of it can be on its way while the rest is held back. */
const fileBytes = 256 * 1024;

/** Short enough for a test, long enough that a fault finds something to hit. */
export const faultTuning: Partial<TaskTuning> = {
  poll: { minMs: 150, maxMs: 250 },
  createRetryMs: 200,
  createRetryMaxMs: 1_000,
  createTimeoutMs: 12_000,
  stopGraceMs: 90_000,
  archiveGraceMs: 90_000,
  retryMaxMs: 500,
};

/** What tasks under test run on, and where to find out what became of them. */
export interface StackUnderTest {
  readonly parts: Pick<ProcessStack, 'service' | 'client' | 'longhaul' | 'inputs' | 'archive' | 'logFiles'> & {
    /** The service's own. */
    readonly storage: StorageServer;
  };
  /** Every temporary credential that the service ever handed out. */
  readonly credentials: readonly string[];
  readonly callbackToken: string;
  /** How processes ended that were not asked to. */
  readonly unexpectedEnds: readonly string[];
}

/** What one task differs in from others. */
export type TaskUnderTestOptions = Pick<NewTaskInput, 'tuning' | 'watch' | 'account'>;

/** One task that faults are aimed at, and what the service was asked about it. */
export class TaskUnderTest {
  readonly key: string;
  readonly workflowId: string;
  /** Of its file, which the app hands back byte for byte. */
  readonly sha256: string;
  readonly #stack: StackUnderTest;
  readonly #input: NewTaskInput;

  /** @param key - also stands at the beginning of its file, so that its upload is known on the wire. */
  constructor(stack: StackUnderTest, key: string, options: TaskUnderTestOptions = {}) {
    this.#stack = stack;
    this.key = key;
    this.workflowId = `task:${key}`;
    const content = Buffer.concat([Buffer.from(key), randomBytes(fileBytes)]);
    this.sha256 = createHash('sha256').update(content).digest('hex');
    const file = join(stack.parts.inputs, `${key}.mp4`);
    writeFileSync(file, content);
    this.#input = {
      webAppId: courier,
      inputs: { '1:LoadFile.file': { file } },
      ...options,
      tuning: { ...faultTuning, ...options.tuning },
    };
  }

  /** Starts it, or joins it; with `retry`, again after an end that was none. */
  start(retry = false): Promise<TaskHandle> {
    return this.#stack.parts.longhaul.start({ key: this.key, ...this.#input }, { retry });
  }

  get handle(): TaskHandle {
    return this.#stack.parts.longhaul.task(this.key);
  }

  /** The creates of this task that the service accepted, whether or not anybody was told. */
  get acceptedCreates(): readonly LedgerEntry[] {
    const creates = this.#stack.parts.service.ledger.entries({ endpoint: 'create', correlation: this.workflowId });
    return creates.filter(({ requestId }) => requestId !== undefined);
  }

  /** The request id that the service gave; undefined while there is none. */
  get requestId(): string | undefined {
    return this.acceptedCreates.at(-1)?.requestId;
  }

  /** How often the service was asked this about the task. */
  asked(endpoint: EndpointName): number {
    const { requestId } = this;
    return requestId === undefined ? 0 : this.#stack.parts.service.ledger.count({ endpoint, requestId });
  }
}
