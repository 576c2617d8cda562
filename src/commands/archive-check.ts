import { Client } from '@temporalio/client';
import { findOtherArchive, type KnownArchive, type OtherArchive } from '../client/archive-of-tasks';
import { connectTemporal } from '../client/connect-temporal';
import type { TemporalConnection } from '../config/temporal-connection';
import { type Archive, findArchiveIdentity } from '../storage/archive/archive';
import { ArchiveError } from '../storage/errors';

/** Asks Temporal whether the tasks of a queue have another archive than this one. Throws where it does not answer. */
export async function askForOtherArchive(
  temporal: TemporalConnection,
  taskQueue: string,
  archive: KnownArchive,
): Promise<OtherArchive | undefined> {
  const connection = await connectTemporal(temporal);
  const client = new Client({ connection, namespace: temporal.namespace });
  return await findOtherArchive(client, taskQueue, archive).finally(() => connection.close());
}

/**
 * Throws ArchiveError where the tasks of a queue have another archive than this one, by whose files every result would
 * be called lost. A new archive is left as it is.
 */
export async function requireArchiveOfTasks(
  archive: Archive,
  replaces: string | null,
  temporal: TemporalConnection,
  taskQueue: string,
): Promise<void> {
  const id = await findArchiveIdentity(archive);
  const other = await askForOtherArchive(temporal, taskQueue, { id, replaces });
  if (other === undefined) return;
  throw new ArchiveError('ARCHIVE_UNUSABLE', `${archive.location}: ${other.found}. ${other.remedy}`);
}
