import { safeText, errorCode, errorMessage } from '../core/text';

/** Base of this folder's errors. No message, property or cause has a credential or the query of a URL. */
export class StorageError extends Error {
  /** Whether another attempt, perhaps with fresh links or credentials, may succeed. */
  readonly isRetryable: boolean;

  constructor(message: string, isRetryable: boolean, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.isRetryable = isRetryable;
  }
}

export type SourceErrorCode =
  | 'NO_INPUT_ROOTS'
  | 'UNREADABLE_NOW'
  | 'OUTSIDE_INPUT_ROOTS'
  | 'NOT_FOUND'
  | 'NOT_A_FILE'
  | 'UNREADABLE'
  | 'FILE_MOVED'
  | 'EMPTY'
  | 'NOT_THE_FILE'
  | 'TOO_LARGE'
  | 'UNKNOWN_SCHEME'
  | 'URL_INVALID'
  | 'URL_SIGNED'
  | 'HOST_NOT_ALLOWED'
  | 'BUCKET_NOT_ALLOWED'
  | 'FETCH_REFUSED'
  | 'FETCH_FAILED'
  | 'TOO_SLOW';

const passingCodes: readonly SourceErrorCode[] = ['FETCH_FAILED', 'UNREADABLE_NOW', 'TOO_SLOW'];

export class SourceError extends StorageError {
  readonly code: SourceErrorCode;
  /** Without the query of a URL. */
  readonly source: string;
  readonly remedy: string;

  constructor(
    code: SourceErrorCode,
    what: { readonly source: string; readonly problem: string; readonly remedy: string },
    options?: ErrorOptions,
  ) {
    super(`input file "${what.source}" ${what.problem}; ${what.remedy}`, passingCodes.includes(code), options);
    this.code = code;
    this.source = what.source;
    this.remedy = what.remedy;
  }
}

/**
 * `CREDENTIALS_EXPIRED`, `OBJECT_EXISTS` and `NO_STORAGE` (nothing ever answered) ask for a fresh token, so a new key.
 * After `UPLOAD_UNAVAILABLE` and `UPLOAD_TOO_SLOW` the object is unknown. `FILE_UNREADABLE` may pass. Others are final.
 */
export type UploadErrorCode =
  | 'CREDENTIALS_EXPIRED'
  | 'OBJECT_EXISTS'
  | 'NO_STORAGE'
  | 'UPLOAD_UNAVAILABLE'
  | 'UPLOAD_TOO_SLOW'
  | 'UPLOAD_REFUSED'
  | 'ENDPOINT_UNUSABLE'
  | 'FILE_UNREADABLE'
  | 'FILE_CHANGED';

/** Where no fresh token helps, the service hands out tokens that cannot work. */
export const tokenFaults: readonly UploadErrorCode[] = ['CREDENTIALS_EXPIRED', 'OBJECT_EXISTS', 'NO_STORAGE'];

const retryableUploads: readonly UploadErrorCode[] = [
  ...tokenFaults,
  'UPLOAD_UNAVAILABLE',
  'UPLOAD_TOO_SLOW',
  'FILE_UNREADABLE',
];

export class UploadError extends StorageError {
  readonly code: UploadErrorCode;
  readonly httpStatus?: number;
  readonly storageCode?: string;

  constructor(
    code: UploadErrorCode,
    message: string,
    details: ErrorOptions & { readonly httpStatus?: number; readonly storageCode?: string } = {},
  ) {
    super(message, retryableUploads.includes(code), details);
    this.code = code;
    this.httpStatus = details.httpStatus;
    this.storageCode = details.storageCode;
  }
}

export type StagingErrorCode = 'EMPTY' | 'UNREADABLE';

/** A file of the caller could not be staged. */
export class StagingError extends StorageError {
  /** Set when no further attempt will help: the content has no byte, or failed with the `cause`. */
  readonly code?: StagingErrorCode;

  constructor(message: string, { code, ...options }: ErrorOptions & { readonly code?: StagingErrorCode } = {}) {
    super(message, code === undefined, options);
    this.code = code;
  }
}

/** `LINK_EXPIRED` asks for fresh links, `OUTPUT_TOO_LARGE` for a higher limit; `CONTENT_WRONG` is another content. */
export type DownloadErrorCode =
  | 'LINK_EXPIRED'
  | 'CONTENT_WRONG'
  | 'LINK_INVALID'
  | 'DOWNLOAD_CUT_SHORT'
  | 'DOWNLOAD_FAILED'
  | 'DOWNLOAD_TOO_SLOW'
  | 'OUTPUT_TOO_LARGE';

/** Always worth another try with a fresh link. */
export class DownloadError extends StorageError {
  readonly code: DownloadErrorCode;
  readonly httpStatus?: number;

  constructor(code: DownloadErrorCode, message: string, details: ErrorOptions & { readonly httpStatus?: number } = {}) {
    super(message, true, details);
    this.code = code;
    this.httpStatus = details.httpStatus;
  }
}

export interface Came {
  readonly bytes: number;
  readonly digest: string;
  readonly algorithm: 'sha256' | 'md5';
}

/** All may have come, or a part: nothing proves the end. */
export class UnprovenEndError extends DownloadError {
  readonly came: Came;

  constructor(message: string, came: Came) {
    super('DOWNLOAD_CUT_SHORT', message);
    this.came = came;
  }
}

/**
 * `ARCHIVE_FULL` and `ARCHIVE_UNUSABLE` last until an operator acts; `NOT_WHOLE` means that a content is not what was
 * expected; `NAME_INVALID` is a mistake in the caller.
 */
export type ArchiveErrorCode = 'ARCHIVE_UNUSABLE' | 'ARCHIVE_FULL' | 'NOT_WHOLE' | 'NAME_INVALID';

/** The archive could not keep or read something. No partial file has a final name. */
export class ArchiveError extends StorageError {
  readonly code: ArchiveErrorCode;

  constructor(code: ArchiveErrorCode, message: string, options?: ErrorOptions) {
    super(message, code !== 'NAME_INVALID', options);
    this.code = code;
  }
}

/** Has only the redacted message and the code. */
export function safeCause(error: unknown, secrets: readonly string[] = []): Error {
  const code = errorCode(error);
  const cause = new Error(safeText(errorMessage(error), secrets));
  return code === '' ? cause : Object.assign(cause, { code });
}
