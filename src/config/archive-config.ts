/** Outputs are kept in a folder. */
export interface FolderArchiveConfig {
  readonly kind: 'folder';
  /** Absolute. */
  readonly path: string;
}

/** Outputs are kept in a bucket. Where it is and who asks is told by `AWS_*`, which the AWS SDK reads itself. */
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
  const { bucket, prefix = '' } = /^s3:\/\/(?<bucket>[^/]*)(?:\/(?<prefix>.*?)\/?)?$/.exec(uri)?.groups ?? {};
  if (bucket === undefined || !/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket)) return undefined;
  const parts = prefix === '' ? [] : prefix.split('/');
  const isPlain = parts.every((part) => !['', '.', '..'].includes(part) && !/[\p{Cc}\\?#]/u.test(part));
  return isPlain ? { bucket, prefix } : undefined;
}
