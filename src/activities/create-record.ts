import { randomUUID } from 'node:crypto';
import { posix } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/common';
import { failureTypes } from '../contract/failure-types';
import type { CreateOutcome } from '../core/create-outcome';
import { isCreatedBefore } from '../core/adoption';
import { isCreatedAbout } from '../core/reconcile';
import { createName, createRecordName } from '../contract/workflow-ids';
import {
  type CreateEnd,
  type CreateRecord,
  createRecordText as toText,
  parseCreateRecord as parse,
} from '../archive/create-record';
import type { Archive } from '../storage/archive/archive';
import { workerClock } from './clock';

/** How often the record of a create that is on its way elsewhere is read. */
const readEveryMs = 250;

/** The last write of an end, by the place of its record. */
const endWrites = new Map<string, Promise<void>>();

/** What a create record says of its create beside its name. */
export interface CreateFacts {
  /** @default one of its own */
  readonly maker?: string | undefined;
  readonly callbackAsked?: boolean;
  readonly createDigest?: string | undefined;
  readonly account?: string | undefined;
  readonly webAppId?: number | undefined;
}

/**
 * The record of one create, in the archive. It is written exclusively, so a second create (a reset or repeated
 * workflow, a start after Temporal's retention) learns what the first one did instead of paying again.
 */
export class CreateRecordFile {
  readonly #archive: Archive;
  readonly #name: string;
  #record: CreateRecord;

  constructor(archive: Archive, workflowId: string, createNumber: number, facts: CreateFacts = {}) {
    const { maker = randomUUID(), callbackAsked = false, createDigest, account, webAppId } = facts;
    this.#archive = archive;
    this.#name = createRecordName(workflowId, createNumber);
    const sentAt = new Date(workerClock()).toISOString();
    this.#record = {
      workflowId,
      createNumber,
      sentAt,
      maker,
      callbackAsked,
      createDigest,
      account,
      webAppId,
      requestId: null,
    };
  }

  /** Takes the right to send this create; false when another create has it. Throws ArchiveError when that is not known. */
  async claim(): Promise<boolean> {
    this.#record = { ...this.#record, sentAt: new Date(workerClock()).toISOString() };
    if (await this.#archive.putIfAbsent(this.#name, toText(this.#record))) return true;
    if (!this.#isOwn(await this.#archive.read(this.#name))) return false;
    // The answer to this claim was lost, in an attempt that is over and sent nothing that was taken.
    await this.#archive.replace(this.#name, toText(this.#record));
    return true;
  }

  /**
   * What became of the create that the record is of: accepted when the record has an id, uncertain when it has none.
   * `undefined`: there is no record, so nothing was sent under its number, or provably in vain.
   *
   * @param waitMs - how long an answer is waited for, whenever the record was made: its clock may be hours off
   */
  async find(waitMs = 0, onWait?: (untilMs: number) => void): Promise<CreateOutcome | undefined> {
    const untilMs = performance.now() + waitMs;
    for (let isTold = false; ; isTold = true) {
      const content = await this.#archive.read(this.#name);
      if (content === undefined) return undefined;
      this.#requireOwn(content);
      const requestId = requestIdIn(content);
      if (requestId !== undefined) return { outcome: 'accepted', requestId };
      const leftMs = untilMs - performance.now();
      if (leftMs <= 0) return this.#unanswered(parse(content));
      if (!isTold) onWait?.(workerClock() + leftMs);
      await delay(Math.min(readEveryMs, leftMs));
    }
  }

  /** Where it is or would be, for people. */
  get place(): string {
    return this.#archive.locate(this.#name);
  }

  /** When this create was claimed, in milliseconds since 1970. */
  get sentAtMs(): number {
    return Date.parse(this.#record.sentAt);
  }

  #unanswered({ sentAt, callbackAsked }: ReturnType<typeof parse>): CreateOutcome {
    const reason = `an earlier create of this workflow (number ${this.#record.createNumber}) left no answer in its record`;
    const sentAtMs = Date.parse(sentAt ?? '');
    return {
      outcome: 'uncertain',
      reason,
      callbackAsked: callbackAsked === true,
      sentAtMs: Number.isNaN(sentAtMs) ? undefined : sentAtMs,
    };
  }

  /** Throws when the record in this one's place is that of another workflow, or of another input. */
  #requireOwn(content: Buffer | undefined): void {
    const own = this.#record;
    const recorded = parse(content);
    const { workflowId, sentAt } = recorded;
    if (typeof workflowId === 'string' && workflowId !== own.workflowId) {
      const words = `The create record of ${own.workflowId} is taken by ${workflowId}: the archive takes names that differ only in case for the same. Use another key.`;
      throw ApplicationFailure.nonRetryable(words, failureTypes.ArchiveUnavailable);
    }
    if ([recorded.createDigest, own.createDigest].includes(undefined)) return;
    if (recorded.createDigest !== own.createDigest) {
      const words = `By its create record, ${own.workflowId} was created with another input (create ${own.createNumber}, ${String(sentAt)}). Use another key; or for a row, allowChanged (--allow-changed): it is then paid anew.`;
      throw ApplicationFailure.nonRetryable(words, failureTypes.InputChanged);
    }
  }

  /** The service accepted it. */
  async complete(requestId: string): Promise<void> {
    await this.#archive.replace(this.#name, toText({ ...this.#record, requestId }));
  }

  /**
   * Completes a record that its own create could not complete: that worker died, and the id came by its heartbeat, a
   * callback or a person. One that has an id, or is not there, stays as it is.
   *
   * @param mistaken - an id that may be replaced all the same: a person wrote it, and the service does not know it
   */
  async addRequestId(requestId: string, mistaken?: string): Promise<void> {
    const content = await this.#archive.read(this.#name);
    if (content === undefined || ![undefined, mistaken].includes(requestIdIn(content))) return;
    await this.#archive.replace(this.#name, toText({ ...this.#record, ...knownIn(content), requestId }));
  }

  /**
   * Adds how the task ended and what it cost, so that the archive knows it of every task that was paid, also of one that
   * left nothing and was followed by another create. A record that is of another task, or not there, stays as it is, and
   * so does one that says the same: a callback and the watch often see an end at once, and one of them writes it.
   *
   * A record of an uncertain create gets the request id, too, if the service created this task when that create was sent, and
   * no other create of the key has it on record: a task that leaves nothing to archive, and one that is adopted under the key, settle it so.
   */
  async addEnd(requestId: string, end: CreateEnd): Promise<void> {
    const { place } = this;
    const add = (): Promise<void> => this.#addEnd(requestId, end);
    const written = endWrites.get(place)?.then(add, add) ?? add();
    endWrites.set(place, written);
    try {
      await written;
    } finally {
      if (endWrites.get(place) === written) endWrites.delete(place);
    }
  }

  async #addEnd(requestId: string, end: CreateEnd): Promise<void> {
    const content = await this.#archive.read(this.#name);
    if (content === undefined || !isRecordOf(content, requestId, end)) return;
    const { workflowId, createNumber } = this.#record;
    if (requestIdIn(content) === undefined) {
      const other = await findCreate(this.#archive, workflowId, { requestId, except: createNumber });
      if (other !== undefined) return;
    }
    // A worker that takes a task over may not know its price.
    if (end.cost === null && (parse(content).end?.cost ?? null) !== null) return;
    const text = toText({ ...this.#record, ...knownIn(content), requestId, end });
    if (content.toString('utf8') !== text) await this.#archive.replace(this.#name, text);
  }

  /** The app of the task; undefined when the record is of another task, or not there. */
  async findApp(requestId: string): Promise<number | undefined> {
    const content = await this.#archive.read(this.#name);
    return requestIdIn(content) === requestId ? parse(content).webAppId : undefined;
  }

  /** Provably nothing was created: the next one may take the same number. */
  async release(): Promise<void> {
    await this.#archive.remove(this.#name);
  }

  /** The same, where it may be another's, or its request id may have been added meanwhile: it stays then. */
  async releaseUnsent(): Promise<void> {
    if (this.#isOwn(await this.#archive.read(this.#name))) await this.release();
  }

  /** Made by this attempt, or by one before which is over, and without a request id. */
  #isOwn(content: Buffer | undefined): boolean {
    return parse(content).maker === this.#record.maker && requestIdIn(content) === undefined;
  }
}

/** The name of the create of this workflow whose record has this request id, but for the one numbered `except`. Throws ArchiveError. */
export async function findCreate(
  archive: Archive,
  workflowId: string,
  { requestId, except }: { readonly requestId: string; readonly except?: number | undefined },
): Promise<string | undefined> {
  for await (const { name } of archive.list(posix.dirname(createRecordName(workflowId, 1)))) {
    const createNumber = Number(posix.basename(name, '.json'));
    if (createNumber === except) continue;
    const content = await archive.read(name);
    if (requestIdIn(content) === requestId && parse(content).workflowId === workflowId) {
      return createName(workflowId, createNumber);
    }
  }
  return undefined;
}

function requestIdIn(content: Buffer | undefined): string | undefined {
  const { requestId } = parse(content);
  return typeof requestId === 'string' ? requestId : undefined;
}

/** Whether a record is that of this task: it names it, or names none and was made when the service created the task. */
function isRecordOf(content: Buffer, requestId: string, { createdAt }: CreateEnd): boolean {
  const recorded = requestIdIn(content);
  if (recorded !== undefined) return recorded === requestId;
  const { sentAt } = parse(content);
  if (createdAt === null || sentAt === undefined) return false;
  const [createdAtMs, sentAtMs] = [Date.parse(createdAt), Date.parse(sentAt)];
  return isCreatedAbout(createdAtMs, sentAtMs) && !isCreatedBefore(createdAtMs, sentAtMs);
}

/** What can be read of a record: some of it only its own create knew. */
function knownIn(content: Buffer): Partial<CreateRecord> {
  const fields: Readonly<Record<string, unknown>> = parse(content);
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
