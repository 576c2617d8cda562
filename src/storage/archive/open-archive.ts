import { type BucketPlace, createArchiveClient } from '../s3/s3-client';
import { spoolFolder } from '../spool';
import type { Archive } from './archive';
import { FolderArchive } from './folder-archive';
import { S3Archive } from './s3-archive';

export type ArchiveLocation =
  | { readonly kind: 'folder'; /** Absolute. */ readonly path: string }
  | {
      readonly kind: 's3';
      readonly bucket: string;
      /** Without slashes at its ends; may be empty. */
      readonly prefix: string;
      /** Whether the bucket stands in the path of a URL instead of its host. */
      readonly isPathStyle: boolean;
    };

/** Asks nothing of the archive yet. `place` has what a bucket needs beside `AWS_*` of the process. */
export function openArchive(location: ArchiveLocation, place?: BucketPlace): Archive {
  if (location.kind === 'folder') return new FolderArchive(location.path);
  return new S3Archive({
    ...location,
    client: createArchiveClient(location.isPathStyle, place),
    get spoolFolder() {
      return spoolFolder();
    },
  });
}
