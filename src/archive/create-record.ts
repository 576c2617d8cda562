import { basename, parse as parsePath } from 'node:path/posix';
import * as v from 'valibot';
import type { CostTimes } from '../contract/task-result';
import { createRecordName } from '../contract/workflow-ids';
import { isRecord, parseJson } from '../core/json';
import type { Archive } from '../storage/archive/archive';
import { costTimes, endStatus, money } from './stored';

const wholeNumber = v.pipe(v.number(), v.safeInteger());

const endSchema = v.object({
  status: endStatus,
  /** Null when the service did not say. */
  createdAt: v.nullable(v.string()),
  costTimes: v.custom<CostTimes>((value) => v.is(costTimes, value)),
  cost: v.nullable(money),
});

export type CreateEnd = Readonly<v.InferOutput<typeof endSchema>>;

const recordSchema = v.object({
  workflowId: v.string(),
  createNumber: wholeNumber,
  /** ISO-8601, by the clock of its worker: other clocks may be hours off. */
  sentAt: v.string(),
  /** Random: the attempt that made it, and those of the same create after one that provably created nothing. */
  maker: v.string(),
  callbackAsked: v.boolean(),
  createDigest: v.optional(v.string()),
  account: v.optional(v.string()),
  webAppId: v.optional(wholeNumber),
  requestId: v.nullable(v.string()),
  /** Absent until a worker has seen it. */
  end: v.optional(endSchema),
});

/** Written before a create is sent, completed with the request id afterwards. */
export type CreateRecord = Readonly<v.InferOutput<typeof recordSchema>>;

/** One line. What is added later is a line of its own. */
export function createRecordText(record: Partial<CreateRecord>): string {
  return `${JSON.stringify(record)}\n`;
}

/** What the lines say, the last one first; those whose writer died half-way are left out, as is a damaged field. */
export function parseCreateRecord(content: Buffer | undefined): Partial<CreateRecord> {
  const lines = (content?.toString() ?? '').split('\n').map(parseJson).filter(isRecord);
  const json = Object.fromEntries(lines.flatMap((line) => Object.entries(line)));
  const readable = Object.entries(recordSchema.entries).filter(([name, schema]) => v.is(schema, json[name]));
  return v.parse(v.partial(recordSchema), Object.fromEntries(readable.map(([name]) => [name, json[name]])));
}

/** The records of the creates of a workflow, in no order. Throws ArchiveError. */
export async function* listCreates(
  archive: Pick<Archive, 'list'>,
  workflowId: string,
): AsyncGenerator<{ readonly name: string; readonly createNumber: number }, void, undefined> {
  const { dir, base } = parsePath(createRecordName(workflowId, 1));
  const prefix = base.slice(0, -'1.json'.length);
  for await (const { name } of archive.list(dir, undefined, prefix)) {
    const createNumber = parseInt(basename(name).slice(prefix.length), 10);
    if (createNumber > 0 && name === createRecordName(workflowId, createNumber)) yield { name, createNumber };
  }
}
