import { Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { type ActivityDependencies, createActivities } from '../../src/activities';
import { SharedUploads } from '../../src/activities/shared-uploads';
import type { Activities, CreateTaskInput, CreateTaskResult } from '../../src/contract/activities';
import type { ServiceClient } from '../../src/service';
import { AccountGate } from '../../src/service/account-gate';
import type { CreateLimiter, CreateLimiterView } from '../../src/service/create-limiter';
import type { Archive } from '../../src/storage/archive/archive';
import { createDownloadAgent } from '../../src/storage/download';
import { loopbackRule } from './loopback-rule';
import { ActivityEnvironment } from './activity-environment';

/** What Temporal tells an attempt, and what it does with its heartbeats. */
export interface AttemptInfo {
  readonly workflowId: string;
  readonly startToCloseTimeoutMs?: number;
  /** From the first scheduling on. @default a day */
  readonly scheduleToCloseTimeoutMs?: number;
  /** When Temporal scheduled the first attempt, and this one. @default now */
  readonly scheduledTimestampMs?: number;
  readonly currentAttemptScheduledTimestampMs?: number;
  readonly heartbeatDetails?: unknown;
  /** The heartbeat that is waited for. */
  readonly confirm?: (details: unknown) => Promise<void>;
  readonly onHeartbeat?: (details: unknown) => void;
}

export interface ObservedAttempt {
  readonly outcome?: CreateTaskResult;
  /** That Temporal retries. */
  readonly failure?: ApplicationFailure;
  /** What Temporal had confirmed before the record was claimed. */
  readonly confirmed: readonly unknown[];
  /** What was told afterwards. */
  readonly heartbeats: readonly unknown[];
  readonly limiter: CreateLimiterView;
}

/** A worker, as far as attempts of `createTask` are concerned, without Temporal. */
export class CreateAttempts {
  readonly limiter: CreateLimiter;
  readonly #createTask: Activities['createTask'];

  constructor({
    service,
    archive,
    spoolFolder,
    ...more
  }: { service: ServiceClient; archive: Archive; spoolFolder: string } & Partial<ActivityDependencies>) {
    const gate = new AccountGate({ createsPerSecond: 100, pollsPerSecond: 100 });
    this.limiter = gate.creates;
    const { createTask } = createActivities({
      allowed: { accounts: null, tuning: true, recreate: true },
      services: new Map([['default', service]]),
      limits: new Map([['default', gate]]),
      archive,
      sources: { inputRoots: [], inputHosts: [], maxBytes: 1, spoolFolder },
      uploadConnections: loopbackRule,
      sharedUploads: new SharedUploads(archive),
      downloads: createDownloadAgent(loopbackRule),
      ...more,
    });
    this.#createTask = createTask;
  }

  async run(input: CreateTaskInput, info: AttemptInfo): Promise<CreateTaskResult> {
    const { workflowId, confirm = () => Promise.resolve(), onHeartbeat = () => undefined } = info;
    const { startToCloseTimeoutMs = 45_000, scheduleToCloseTimeoutMs = 24 * 3_600_000, heartbeatDetails } = info;
    const nowMs = Date.now();
    // Of Temporal's client an attempt uses nothing else.
    const client = Object.assign(Object.create(Client.prototype) as Client, {
      withAbortSignal: (_signal: AbortSignal, call: () => Promise<unknown>) => call(),
      withDeadline: (_deadline: number, call: () => Promise<void>) => call(),
      activity: { heartbeat: (_token: Uint8Array, details: unknown) => confirm(details) },
    });
    const environment = new ActivityEnvironment(
      {
        workflowExecution: { workflowId, runId: 'run' },
        scheduledTimestampMs: info.scheduledTimestampMs ?? nowMs,
        currentAttemptScheduledTimestampMs: info.currentAttemptScheduledTimestampMs ?? nowMs,
        startToCloseTimeoutMs,
        scheduleToCloseTimeoutMs,
        heartbeatDetails,
      },
      { client },
    );
    environment.on('heartbeat', onHeartbeat);
    const result: CreateTaskResult = await environment.run(this.#createTask, input);
    return result;
  }

  /** The same, and what is seen of it. */
  async observe(input: CreateTaskInput, info: AttemptInfo): Promise<ObservedAttempt> {
    const confirmed: unknown[] = [];
    const heartbeats: unknown[] = [];
    const confirm = (details: unknown): Promise<void> => {
      confirmed.push(details);
      return Promise.resolve();
    };
    const observed = (): ObservedAttempt => ({ confirmed, heartbeats, limiter: this.limiter.view() });
    try {
      const outcome = await this.run(input, { confirm, onHeartbeat: (details) => heartbeats.push(details), ...info });
      return { outcome, ...observed() };
    } catch (error) {
      if (!(error instanceof ApplicationFailure) || error.nonRetryable === true) throw error;
      return { failure: error, ...observed() };
    }
  }
}
