import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time';
import { temporal } from '@temporalio/proto';

/** A payload as it goes over the wire: any encoding, any bytes. */
export type RawPayload = temporal.api.common.v1.IPayload;

/** A payload of this encoding; null leaves the metadata out. */
export function rawPayload(encoding: string | null, data: string | Uint8Array): RawPayload {
  const bytes = typeof data === 'string' ? Buffer.from(data) : data;
  return { ...(encoding !== null && { metadata: { encoding: Buffer.from(encoding) } }), data: bytes };
}

/** A payload as Temporal's default converter makes it. */
export function jsonPayload(value: unknown): RawPayload {
  return rawPayload('json/plain', JSON.stringify(value));
}

/** Payloads that the default converter cannot decode, by what is wrong with them. */
export const undecodablePayloads: Readonly<Record<string, RawPayload>> = {
  'an unknown encoding': rawPayload('application/cbor', '{}'),
  'a codec': rawPayload('binary/encrypted', randomBytes()),
  'broken JSON': rawPayload('json/plain', '{"requestId": "r-'),
  'no bytes': rawPayload('json/plain', ''),
  'bytes that are no text': rawPayload('json/plain', Uint8Array.from([0xff, 0xfe, 0x00])),
  'no metadata': rawPayload(null, '{}'),
  'no encoding': { metadata: {}, data: Buffer.from('{}') },
  protobuf: rawPayload('json/protobuf', '{}'),
};

function randomBytes(): Uint8Array {
  return Uint8Array.from({ length: 64 }, (_, index) => (index * 37) % 256);
}

const { UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_COMPLETED: completed } =
  temporal.api.enums.v1.UpdateWorkflowExecutionLifecycleStage;

/** What a raw start may say beside its arguments. */
export type RawStart = Partial<temporal.api.workflowservice.v1.IStartWorkflowExecutionRequest>;

/** Sends messages to Temporal as any program could: with payloads that no SDK of ours would make. */
export class RawMessages {
  readonly #client: Client;
  readonly #taskQueue: string;

  constructor(client: Client, taskQueue: string) {
    this.#client = client;
    this.#taskQueue = taskQueue;
  }

  /** Starts a workflow; resolves with its run id. */
  async start(workflowType: string, workflowId: string, input: RawPayload[], more: RawStart = {}): Promise<string> {
    const { runId } = await this.#client.workflowService.startWorkflowExecution({
      namespace: this.#namespace,
      requestId: randomUUID(),
      workflowId,
      workflowType: { name: workflowType },
      taskQueue: { name: this.#taskQueue },
      workflowExecutionTimeout: msToTs(300_000),
      input: { payloads: input },
      ...more,
    });
    return runId;
  }

  async signal(workflowId: string, signalName: string, input: RawPayload[]): Promise<void> {
    await this.#client.workflowService.signalWorkflowExecution({
      namespace: this.#namespace,
      workflowExecution: { workflowId },
      signalName,
      input: { payloads: input },
    });
  }

  /** Resolves with the failure's message when the update was refused. */
  async update(workflowId: string, name: string, input: RawPayload[]): Promise<string | undefined> {
    const { outcome } = await this.#client.workflowService.updateWorkflowExecution({
      namespace: this.#namespace,
      workflowExecution: { workflowId },
      waitPolicy: { lifecycleStage: completed },
      request: { meta: { updateId: randomUUID() }, input: { name, args: { payloads: input } } },
    });
    return outcome?.failure?.message ?? undefined;
  }

  /** Rejects with what the workflow says against the query. */
  async query(workflowId: string, queryType: string, input: RawPayload[]): Promise<void> {
    await this.#client.workflowService.queryWorkflow({
      namespace: this.#namespace,
      execution: { workflowId },
      query: { queryType, queryArgs: { payloads: input } },
    });
  }

  get #namespace(): string {
    return this.#client.options.namespace;
  }
}
