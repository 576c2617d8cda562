import { parseS3Uri } from '../domain/uri';

/** Outputs are kept in a folder. */
export interface FolderArchiveConfig {
  readonly kind: 'folder';
  /** Absolute. */
  readonly path: string;
}

/** Outputs are kept in a bucket. Endpoint, region and credentials are in `AWS_*`, which the AWS SDK reads itself. */
export interface BucketArchiveConfig {
  readonly kind: 's3';
  readonly bucket: string;
  /** What all keys begin with, without slashes at its ends; may be empty. */
  readonly prefix: string;
  /** Whether the bucket stands in the path of a URL instead of its host. */
  readonly isPathStyle: boolean;
}

/** Where outputs, manifests and create records are kept. */
export type ArchiveConfig = FolderArchiveConfig | BucketArchiveConfig;

/** Bucket and prefix in `s3://bucket/prefix`; undefined when it is none. */
export function readS3Uri(uri: string): Pick<BucketArchiveConfig, 'bucket' | 'prefix'> | undefined {
  const place = parseS3Uri(uri.replace(/\/$/, ''));
  return place === undefined || /[?#]/.test(place.key) ? undefined : { bucket: place.bucket, prefix: place.key };
}
