import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import { errorCode } from '../../src/core/text';
import { listFiles } from './list-files';

export interface Evidence {
  /** Where it was, for the message of a failed test. */
  readonly where: string;
  readonly text: string;
}

/** Every text inside a value: of strings, of bytes (payloads are bytes), and of everything in it, however deep. */
export function textsOf(value: unknown, where: string): Evidence[] {
  if (typeof value === 'string') return [{ where, text: value }];
  if (value instanceof Uint8Array) return [{ where, text: Buffer.from(value).toString('utf8') }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => [{ where, text: name }, ...textsOf(part, `${where}.${name}`)]);
}

/** What Temporal keeps of a workflow: every event of its history, payloads and failures included. */
export async function historyOf(workflow: WorkflowHandle): Promise<Evidence[]> {
  const { events } = await workflow.fetchHistory();
  return (events ?? []).flatMap((event) =>
    textsOf(event, `${workflow.workflowId}, event ${String(event.eventId)} (${String(event.eventType)})`),
  );
}

/**
 * What Temporal tells of a workflow at this moment beside its history: memo, search attributes, user metadata, and of
 * its pending activities the heartbeats and the failures; and the live details of the Web UI, where a worker tells them.
 */
export async function descriptionOf(workflow: WorkflowHandle): Promise<Evidence[]> {
  const { raw } = await workflow.describe();
  return textsOf(raw, `${workflow.workflowId}, description`);
}

/** The live details that the Web UI shows, from the workflow's own answer; needs a worker. */
export async function metadataOf(workflow: WorkflowHandle): Promise<Evidence[]> {
  return textsOf(await workflow.query('__temporal_workflow_metadata'), `${workflow.workflowId}, metadata`);
}

/** Every file of a folder, by its bytes, and every file's name; one that is gone again counts by its name. */
export function filesOf(folder: string): Evidence[] {
  return listFiles(folder).flatMap((file) => [
    { where: `name of ${file}`, text: file },
    { where: file, text: contentOf(join(folder, file)) },
  ]);
}

/** Contents that are on their way, of every process of Longhaul on this machine. */
export function temporaryFiles(): Evidence[] {
  return readdirSync(tmpdir())
    .filter((name) => name.startsWith('longhaul-spool'))
    .flatMap((name) => filesOf(join(tmpdir(), name)));
}

function contentOf(file: string): string {
  try {
    return readFileSync(file).toString('latin1');
  } catch (error) {
    // Errors of Node itself are of no class that a test knows.
    if (errorCode(error) === 'ENOENT') return '';
    throw error;
  }
}
