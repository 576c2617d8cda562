import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/common';
import {
  type CreateEnd,
  type CreateRecord,
  createRecordText as toText,
  listCreates,
  parseCreateRecord as parse,
} from '../archive/create-record';
import { failureTypes } from '../contract/failure-types';
import { createName, createRecordName } from '../contract/workflow-ids';
import { isCreatedBefore } from '../core/adoption';
import type { CreateOutcome } from '../core/create-outcome';
import { isCreatedAbout } from '../core/reconcile';
import type { Addition, Archive } from '../storage/archive/archive';
import { workerClock } from './clock';

type ReadRecord = ReturnType<typeof parse>;

const readEveryMs = 250;

const endWrites = new Map<string, Promise<boolean>>();

/** Without a `maker` the record has one of its own. */
export type CreateFacts = Partial<
  Pick<CreateRecord, 'maker' | 'callbackAsked' | 'createDigest' | 'account' | 'webAppId'>
>;

/**
 * The record of one create, in the archive. Written exclusively, so that a second create (a reset or repeated workflow,
 * a start after Temporal's retention) learns what the first one did instead of paying again.
 */
export class CreateRecordFile {
  readonly #archive: Archive;
  readonly #name: string;
  #record: CreateRecord;

  constructor(archive: Archive, workflowId: string, createNumber: number, facts: CreateFacts = {}) {
    const { maker = randomUUID(), callbackAsked = false, ...sent } = facts;
    const sentAt = new Date(workerClock()).toISOString();
    this.#archive = archive;
    this.#name = createRecordName(workflowId, createNumber);
    this.#record = { workflowId, createNumber, sentAt, maker, callbackAsked, ...sent, requestId: null };
  }

  /** Takes the right to send this create; false when another has it. Throws ArchiveError when that is not known. */
  async claim(): Promise<boolean> {
    this.#record = { ...this.#record, sentAt: new Date(workerClock()).toISOString() };
    if (await this.#archive.putIfAbsent(this.#name, toText(this.#record))) return true;
    if (!this.#isOwn(parse(await this.#archive.read(this.#name)))) return false;
    // The answer to this claim was lost, in an earlier attempt that sent nothing that was taken.
    await this.#archive.replace(this.#name, toText(this.#record));
    return true;
  }

  /**
   * The recorded create: accepted with a request id, uncertain without. `undefined`: no record, so nothing was sent, or
   * provably in vain.
   *
   * @param waitMs - how long an answer is waited for, whenever the record was made: its clock may be hours off
   */
  async find(waitMs = 0, onWait?: (untilMs: number) => void): Promise<CreateOutcome | undefined> {
    const untilMs = performance.now() + waitMs;
    for (let isTold = false; ; isTold = true) {
      const content = await this.#archive.read(this.#name);
      if (content === undefined) return undefined;
      const record = parse(content);
      this.#requireOwn(record);
      const { requestId, sentAt, callbackAsked = false } = record;
      if (requestId != null) return { outcome: 'accepted', requestId };
      const leftMs = untilMs - performance.now();
      if (leftMs <= 0) {
        const reason = `an earlier create of this workflow (number ${this.#record.createNumber}) left no answer in its record`;
        const sentAtMs = Date.parse(sentAt ?? '');
        return { outcome: 'uncertain', reason, callbackAsked, sentAtMs: Number.isNaN(sentAtMs) ? undefined : sentAtMs };
      }
      if (!isTold) onWait?.(workerClock() + leftMs);
      await delay(Math.min(readEveryMs, leftMs));
    }
  }

  get place(): string {
    return this.#archive.locate(this.#name);
  }

  get sentAtMs(): number {
    return Date.parse(this.#record.sentAt);
  }

  /** Throws when the record is that of another workflow or input. */
  #requireOwn({ workflowId, createDigest, sentAt }: ReadRecord): void {
    const own = this.#record;
    if (workflowId !== undefined && workflowId !== own.workflowId) {
      const words = `The create record of ${own.workflowId} is taken by ${workflowId}: the archive takes names that differ only in case for the same. Use another key.`;
      throw ApplicationFailure.nonRetryable(words, failureTypes.ArchiveUnavailable);
    }
    if (createDigest === undefined || own.createDigest === undefined || createDigest === own.createDigest) return;
    const words = `By its create record, ${own.workflowId} was created with another input (create ${own.createNumber}, ${String(sentAt)}). Use another key; or for a row, allowChanged (--allow-changed): it is then paid anew.`;
    throw ApplicationFailure.nonRetryable(words, failureTypes.InputChanged);
  }

  /** Flushed: the power may fail before Temporal is told the request id. */
  async complete(requestId: string): Promise<void> {
    const added = this.#archive.append(this.#name, () => addition({ requestId }));
    const isAdded = await added.catch(() => false);
    if (!isAdded) await this.#archive.replace(this.#name, toText({ ...this.#record, requestId }));
  }

  /**
   * Adds a request id that came by heartbeat, a callback or a person. A record with an id, or none, stays as it is.
   *
   * @param mistaken - an id that may be replaced all the same: a person wrote it, and the service does not know it
   */
  async addRequestId(requestId: string, mistaken?: string): Promise<void> {
    await this.#archive.append(this.#name, (content) => {
      const record = parse(content);
      if (![undefined, mistaken].includes(record.requestId ?? undefined)) return undefined;
      return addition({ ...this.#missingIn(record), requestId });
    });
  }

  /**
   * Adds how the task ended and what it cost, so that the archive knows it of every paid task. Skips a missing record,
   * one of another task, and an equal end: callback and watch often see it at once.
   *
   * The record of an uncertain create also gets the request id, if the service created the task when that create was
   * sent, and no other create of the key has it. Returns whether the record is that of the task.
   */
  async addEnd(requestId: string, end: CreateEnd): Promise<boolean> {
    const { place } = this;
    const add = (): Promise<boolean> => this.#addEnd(requestId, end);
    const written = endWrites.get(place)?.then(add, add) ?? add();
    endWrites.set(place, written);
    try {
      return await written;
    } finally {
      if (endWrites.get(place) === written) endWrites.delete(place);
    }
  }

  async #addEnd(requestId: string, end: CreateEnd): Promise<boolean> {
    let isOfTask = false;
    await this.#archive.append(this.#name, async (content) => {
      const record = parse(content);
      if (!isRecordOf(record, requestId, end)) return undefined;
      const { workflowId, createNumber } = this.#record;
      if (record.requestId == null) {
        const other = await findCreate(this.#archive, workflowId, { requestId, except: createNumber });
        if (other !== undefined) return undefined;
        return addition({ ...this.#missingIn(record), requestId, end });
      }
      isOfTask = true;
      // A worker that takes a task over may not know its price.
      if (end.cost === null && record.end?.cost != null) return undefined;
      if (JSON.stringify(record.end) === JSON.stringify(end)) return undefined;
      // The workflow knows the end, and soon the manifest: a power failure takes nothing but this line.
      return { ...addition({ end }), isFlushedLater: true };
    });
    return isOfTask;
  }

  /** Of a record whose maker died half-way. */
  #missingIn(record: ReadRecord): Partial<CreateRecord> {
    return Object.fromEntries(Object.entries(this.#record).filter(([name]) => !(name in record)));
  }

  /** Undefined when the record is of another task, or missing. */
  async findApp(requestId: string): Promise<number | undefined> {
    const record = parse(await this.#archive.read(this.#name));
    return record.requestId === requestId ? record.webAppId : undefined;
  }

  /** Provably nothing was created: the next create may take the same number. */
  async release(): Promise<void> {
    await this.#archive.remove(this.#name);
  }

  /** As `release`, but keeps a record that may be another's or has a request id by now. */
  async releaseUnsent(): Promise<void> {
    if (this.#isOwn(parse(await this.#archive.read(this.#name)))) await this.release();
  }

  /** Made by this attempt or an earlier one that is over, and without a request id. */
  #isOwn({ maker, requestId }: ReadRecord): boolean {
    return maker === this.#record.maker && requestId == null;
  }
}

/** The workflow's create with this request id on record, `except` one number. Throws ArchiveError. */
export async function findCreate(
  archive: Archive,
  workflowId: string,
  { requestId, except }: { readonly requestId: string; readonly except?: number | undefined },
): Promise<string | undefined> {
  for await (const { name, createNumber } of listCreates(archive, workflowId)) {
    if (createNumber === except) continue;
    const record = parse(await archive.read(name));
    if (record.requestId === requestId && record.workflowId === workflowId) return createName(workflowId, createNumber);
  }
  return undefined;
}

/** A record without a request id matches when it was made as the service created the task. */
function isRecordOf(record: ReadRecord, requestId: string, { createdAt }: CreateEnd): boolean {
  if (record.requestId != null) return record.requestId === requestId;
  if (createdAt === null || record.sentAt === undefined) return false;
  const [createdAtMs, sentAtMs] = [Date.parse(createdAt), Date.parse(record.sentAt)];
  return isCreatedAbout(createdAtMs, sentAtMs) && !isCreatedBefore(createdAtMs, sentAtMs);
}

/** On a line of its own, also after one that was not written to its end. */
function addition(facts: Partial<CreateRecord>): Addition {
  // Another process may have left a part of a line by now.
  return { text: `\n${toText(facts)}` };
}
