import { join } from 'node:path';
import { requireReserve } from '../../../../src/storage/archive/archive';
import { FolderArchive } from '../../../../src/storage/archive/folder-archive';
import { S3Archive } from '../../../../src/storage/archive/s3-archive';
import { createArchiveClient } from '../../../../src/storage/s3/s3-client';
import { temporaryFolder } from '../../../support/temporary-folder';

const folder = temporaryFolder();
const client = createArchiveClient(true, { region: 'r' });
afterAll(() => {
  client.destroy();
  folder.remove();
});

const spoolFolder = join(folder.path, 'spool');
const archives = [
  ['a folder', new FolderArchive(folder.path), `${folder.path} has `],
  [
    'a bucket',
    new S3Archive({ client, bucket: 'photos', prefix: 'studio', spoolFolder }),
    `the temporary folder ${spoolFolder}, where outputs wait on their way to s3://photos/studio, has `,
  ],
] as const;

describe.each(archives)('the reserve of an archive in %s', (_where, archive, place) => {
  it('is that of the disk which the refusal names', async () => {
    const freeBytes = (await archive.freeBytes()) ?? 0;
    expect(await requireReserve(archive, Math.floor(freeBytes / 2))).toBeGreaterThan(0);
    const refused = requireReserve(archive, freeBytes * 2);
    await expect(refused).rejects.toMatchObject({ code: 'ARCHIVE_FULL' });
    await expect(refused).rejects.toThrow(place);
    await expect(refused).rejects.toThrow(/free, and outputs are refused below the reserve .* make room on its disk/);
  });
});
