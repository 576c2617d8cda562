import { activityInfo, ApplicationFailure, Context } from '@temporalio/activity';
import type {
  Activities,
  ArchiveOutputsInput,
  ArchiveOutputsResult,
  CheckAdoptionResult,
  CreateTaskInput,
  LostCreate,
  PollResult,
} from '../../src/contract/activities';
import type { WebhookActivities, WebhookDelivery, WebhookInput } from '../../src/contract/webhook';
import { isTooLate } from '../../src/activities/create-task';
import { refusedForNow } from '../../src/activities/to-application-failure';
import { watchTask } from '../../src/activities/watch-task';
import type { CreateOutcome } from '../../src/core/create-outcome';
import type { VerbAnswer } from '../../src/core/stop-request';
import { watchParts } from './watch-parts';

/** What one attempt to create does: an outcome (one that is retried becomes a failure), a thrown error, or whatever a test needs it to do. */
export type CreateStep = CreateOutcome | Error | (() => Promise<CreateOutcome>);

export interface Calls {
  uploads: string[];
  commits: string[];
  creates: CreateTaskInput[];
  heldBack: number;
  createdAtMs: number[];
  polls: number;
  verbs: string[];
  archives: ArchiveOutputsInput[];
  /** Request ids of people, and of callbacks, that it is asked about. */
  adoptionChecks: string[];
  candidateChecks: string[];
  webhooks: WebhookInput[];
}

/** What a test may want of the service from the start. */
type ServiceWays = Omit<FakeService, 'calls' | 'activities'>;

/** Holds what awaits `until` until `release` is called, before or after. */
export function blocked(): { readonly until: () => Promise<void>; readonly release: () => void } {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  return {
    until: () => released,
    release: () => {
      release();
    },
  };
}

/**
 * A service by hand: its state moves only when a test moves it (or along `script`, one step a poll), so a test can put
 * a message exactly where it wants one.
 */
export class FakeService {
  readonly calls: Calls = {
    uploads: [],
    commits: [],
    creates: [],
    heldBack: 0,
    createdAtMs: [],
    polls: 0,
    verbs: [],
    archives: [],
    adoptionChecks: [],
    candidateChecks: [],
    webhooks: [],
  };
  /** What the receiver of webhooks does; by default it takes each. */
  onWebhook: () => Promise<void> = () => Promise.resolve();
  requestId = 'request-1';
  /** What polls of other tasks see; they move nothing. By default such a task is not known. */
  otherTasks: Record<string, PollResult> = {};
  /** Request ids under which the service would know this task; any, unless a test names them. */
  knownAs: readonly string[] | undefined;
  /** What the next polls see; the last one stays. */
  script: PollResult[] = [seen('Queuing'), seen('Preparing'), seen('Running'), seen('Success')];
  /** The outcomes of the next creates; afterwards accepted. */
  createOutcomes: CreateStep[] = [];
  /** When a create that is held back by the limiter of its worker tries again; by default none is. */
  heldBackMs: number | undefined;
  /** What the archive knows of a create whose worker gave no answer; by default that it was about to be sent. */
  onLostCreate: (lost: LostCreate) => Promise<CreateOutcome> = ({ reason }) =>
    Promise.resolve({ outcome: 'uncertain', reason, callbackAsked: false });
  /** Failures of the next archive attempts; afterwards they succeed. */
  archiveFailures: Error[] = [];
  /** What an archive tells beside its one output. */
  archived: Partial<ArchiveOutputsResult> = {};
  /** Content of each file, by name; equal contents share an upload. */
  contents: Record<string, string> = {};
  /** Runs inside the upload; a test may block here. */
  onUpload: () => Promise<void> = () => Promise.resolve();
  /** Runs inside the archive; a test may block here. */
  onArchive: () => Promise<void> = () => Promise.resolve();
  /** Runs inside a poll, which the workflow waits for: what a test sends here arrives while the workflow is busy. */
  /** Whether the watch by activity has a slot for the archive. */
  archivesAtOnce = false;
  onPoll: (poll: number) => Promise<void> = () => Promise.resolve();
  /** What is known of a task that somebody wants to adopt; by default what polls would see, and no follower. */
  onCheckAdoption: (requestId: string) => Promise<CheckAdoptionResult> = (requestId) => {
    const isKnown = this.knownAs?.includes(requestId) !== false;
    const poll = isKnown ? seen('Queuing') : (this.otherTasks[requestId] ?? ({ seen: 'notFound' } as const));
    return Promise.resolve({ ...noObjection, poll });
  };
  /** Answers to the verbs; by default taken, and the task is canceled. */
  onVerb: (verb: string) => VerbAnswer = () => {
    this.script = [seen('Canceled')];
    return { taken: true };
  };

  /** The watch by activity sees what a poll of the watch by timer would. */
  readonly #watchParts = watchParts('default', (requestId) =>
    this.activities.pollTask({ account: 'default', requestId }),
  );

  readonly activities: Activities & WebhookActivities = {
    sendWebhook: async (input) => {
      this.calls.webhooks.push(input);
      await this.onWebhook();
      return delivered;
    },
    inspectInputs: ({ files }) =>
      Promise.resolve({ files: files.map((file) => ({ file, sha256: this.contents[file] ?? file, bytes: 1 })) }),
    storeInput: async ({ file }) => {
      this.calls.uploads.push(file);
      await this.onUpload();
      const [objectKey, sha256] = [`inputs/${file}`, this.contents[file] ?? file];
      this.calls.commits.push(objectKey);
      const resource = { resourceId: this.calls.commits.length, name: file, objectKey };
      return { objectKey, name: file, bytes: 1, sha256, resource };
    },
    createTask: (input) => {
      if (input.lost !== undefined) return this.onLostCreate(input.lost);
      if (isTooLate(0)) return Promise.reject(finalFailure('DeadlineExceeded', 'too late'));
      if (this.heldBackMs !== undefined) {
        this.calls.heldBack += 1;
        return Promise.reject(refusedForNow({ outcome: 'notSent', reason: 'limited' }, this.heldBackMs));
      }
      this.calls.creates.push(input);
      this.calls.createdAtMs.push(Date.now());
      const next = this.createOutcomes.shift() ?? { outcome: 'accepted', requestId: this.requestId };
      if (typeof next === 'function') return next();
      if (next instanceof Error) return Promise.reject(next);
      const isForNow = next.outcome === 'notSent' || (next.outcome === 'rejected' && next.retryable);
      return isForNow ? Promise.reject(refusedForNow(next)) : Promise.resolve(next);
    },
    pollTask: async ({ requestId }) => {
      if (this.knownAs?.includes(requestId) === false) {
        return this.otherTasks[requestId] ?? { seen: 'notFound' };
      }
      this.calls.polls += 1;
      await this.onPoll(this.calls.polls);
      return (this.script.length > 1 ? this.script.shift() : this.script[0]) ?? seen('Running');
    },
    checkAdoption: async ({ requestId, sentAtMs }) => {
      (sentAtMs === null ? this.calls.candidateChecks : this.calls.adoptionChecks).push(requestId);
      return await this.onCheckAdoption(requestId);
    },
    watchTask: (input) => {
      const archiveAtOnce = this.archivesAtOnce ? this.activities.archiveOutputs : undefined;
      return watchTask({ ...this.#watchParts, archiveAtOnce }, { ...input, account: 'default' });
    },
    cancelTask: () => this.#verb('cancel'),
    interruptTask: () => this.#verb('interrupt'),
    archiveOutputs: async (input) => {
      this.calls.archives.push(input);
      await this.onArchive();
      const failure = this.archiveFailures.shift();
      if (failure !== undefined) throw failure;
      const output = { sha256: 'ab', bytes: 1, ext: '.png', auditStatus: 2, errorType: 'NOT_ERROR' };
      const path = `archive/${input.requestId}`;
      return { outputs: [{ path: `${path}/0.png`, ...output }], manifest: `${path}/manifest.json`, ...this.archived };
    },
  };

  /** @param ways - what differs from the defaults from the start. */
  constructor(ways: Partial<ServiceWays> = {}) {
    Object.assign(this, ways);
  }

  #verb(verb: string): Promise<VerbAnswer> {
    this.calls.verbs.push(verb);
    return Promise.resolve(this.onVerb(verb));
  }
}

/** What a check finds of a task that nothing speaks against. */
export const noObjection: CheckAdoptionResult = {
  poll: seen('Running'),
  createdAt: null,
  follower: null,
  creator: null,
  rival: null,
};

/** A poll that saw the task in this state. */
export function seen(status: string, more: Partial<PollResult & { seen: 'task' }> = {}): PollResult {
  return { seen: 'task', status, ...more };
}

/** That a receiver took a webhook. */
export const delivered: WebhookDelivery = { deliveredAt: '2026-03-01T12:00:00.000Z', httpStatus: 204, attempt: 1 };

/** A webhook is of the workflow that ended. */
const webhookId = /^webhook:(.*):msg_[^:]*$/;

/** Activities of workers that several workflows share: each workflow has its own, found by its id. */
export function activitiesByWorkflow(find: (workflowId: string) => object | undefined): object {
  return {
    default: (...args: unknown[]): unknown => {
      const { workflowExecution, activityType } = activityInfo();
      const activities = find((workflowExecution?.workflowId ?? '').replace(webhookId, '$1')) ?? {};
      const activity = Reflect.get(activities, activityType) as ((...args: unknown[]) => unknown) | undefined;
      if (activity === undefined) throw new Error(`No test has given ${activityType} for this workflow.`);
      return activity(...args);
    },
  };
}

/** Activities for several tasks at once: each asks the service under its own workflow id. */
export function activitiesOf(services: ReadonlyMap<string, FakeService>): object {
  return activitiesByWorkflow((workflowId) => services.get(workflowId)?.activities);
}

/** Never comes back by itself, as an activity whose worker is gone; ends when it is told to, so the worker can stop. */
export function untilCancelled(): Promise<never> {
  return Context.current().cancelled;
}

/** A failure that an activity reports as final. */
export function finalFailure(type: string, message: string): Error {
  return ApplicationFailure.create({ type, message, nonRetryable: true });
}

/** A failure that Temporal retries. */
export function passingFailure(message: string): Error {
  return ApplicationFailure.create({ type: 'ArchiveUnavailable', message });
}
