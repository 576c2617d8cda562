/** A running S3 server that asks the service about every access key it does not know itself. */
export interface StorageServer {
  /** Base URL on the loopback address, path style, e.g. `http://127.0.0.1:9000`. */
  readonly endpoint: string;
  /** Host and port under which buckets are virtual hosts, e.g. `oss-cn-shanghai.localhost:9000`. */
  readonly virtualDomain: string;
  /** Region that signatures are made for, without the `oss-` prefix. */
  readonly region: string;
  readonly rootAccessKeyId: string;
  readonly rootSecretAccessKey: string;
  stop(): Promise<void>;
}

/** What a storage server is started with. */
export interface StorageServerNeeds {
  /** Path of the unix socket on which the service answers the S3 server's identity questions. */
  readonly iamSocket: string;
  /** Region without the `oss-` prefix. */
  readonly region: string;
}

/** Starts the S3 server of a reference service. */
export type StartStorage = (needs: StorageServerNeeds) => Promise<StorageServer>;
