import { CreateRecordFile } from '../../../src/activities/create-record';
import { createRecordName } from '../../../src/contract/workflow-ids';
import { parseCreateRecord } from '../../../src/archive/create-record';
import { problemWithCreate } from '../../../src/reconcile/settle';
import { FolderArchive } from '../../../src/storage/archive/folder-archive';
import { temporaryFolder } from '../../support/temporary-folder';

const folder = temporaryFolder();
const archive = new FolderArchive(folder.path);
afterAll(folder.remove);

/** Claims a create of this key; returns what its record says. */
async function claim(
  key: string,
  createNumber: number,
  requestId?: string,
): Promise<ReturnType<typeof parseCreateRecord>> {
  const record = new CreateRecordFile(archive, `task:${key}`, createNumber, { account: 'default', webAppId: 5 });
  await record.claim();
  if (requestId !== undefined) await record.complete(requestId);
  return parseCreateRecord(await archive.read(createRecordName(`task:${key}`, createNumber)));
}

/** What is said of a task that the service created so long after the second create of a key was sent. */
async function problemWith(key: string, requestId: string, afterMs: number): Promise<string | undefined> {
  const recorded = await claim(key, 2);
  const createdAtMs = Date.parse(recorded.sentAt ?? '') + afterMs;
  const facts = { says: 'task', status: 'Success', createdAtMs, expiresAtMs: null } as const;
  const create = { workflowId: `task:${key}`, createNumber: 2, requestId };
  return await problemWithCreate(archive, create, recorded, { facts, others: [] });
}

describe('the task that a person names for a create', () => {
  it('is not one that an earlier create of the key has on record', async () => {
    await claim('a', 1, 'r-1');
    expect(await problemWith('a', 'r-1', 1_000)).toContain('task:a/1');
  });

  it('is not one that the service created before', async () => {
    expect(await problemWith('b', 'r-2', -6_000)).toContain('task:b/2 was sent at');
  });

  it('is in doubt while another create of the app, sent in the same moment, has none, either', async () => {
    const found = await problemWith('c', 'r-3', 1_000);
    expect(found).toMatch(/task:[ab]\/2, sent at .*, has no task/);
  });

  it('is taken when nothing speaks against it', async () => {
    for (const key of ['a', 'b', 'c']) await new CreateRecordFile(archive, `task:${key}`, 2).release();
    expect(await problemWith('d', 'r-4', 60_000)).toBeUndefined();
  });
});
