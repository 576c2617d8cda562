import { safeText, errorCode, errorMessage } from '../core/text';

/**
 * Base of every error of this folder, except the caller's own abort reason. No message, property or cause of it holds
 * a credential or the query of a URL.
 */
export class StorageError extends Error {
  /** Whether the same attempt, or one with fresh links or credentials, may succeed later. */
  readonly isRetryable: boolean;

  constructor(message: string, isRetryable: boolean, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.isRetryable = isRetryable;
  }
}

/** Why an input's source cannot be used. */
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

/** The source of an input file cannot be used. */
export class SourceError extends StorageError {
  readonly code: SourceErrorCode;
  /** What the task named, without the query of a URL. */
  readonly source: string;
  /** What a person can do about it. */
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
 * Why an upload failed: `CREDENTIALS_EXPIRED` and `OBJECT_EXISTS` ask for a fresh token, and so a fresh key; `NO_STORAGE` is
 * of an endpoint where none has answered; after `UPLOAD_UNAVAILABLE` and `UPLOAD_TOO_SLOW` nothing is known about the
 * object; `FILE_UNREADABLE` is of a file that could be opened, so that its disk may come back; the others are final.
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

/** A fresh token may help; where none of them does, the service hands out tokens that cannot work. */
export const tokenFaults: readonly UploadErrorCode[] = ['CREDENTIALS_EXPIRED', 'OBJECT_EXISTS', 'NO_STORAGE'];

const retryableUploads: readonly UploadErrorCode[] = [
  ...tokenFaults,
  'UPLOAD_UNAVAILABLE',
  'UPLOAD_TOO_SLOW',
  'FILE_UNREADABLE',
];

/** An input file could not be uploaded. */
export class UploadError extends StorageError {
  readonly code: UploadErrorCode;
  readonly httpStatus?: number;
  /** The storage's own error code. */
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

/** What a content is that cannot be staged. */
export type StagingErrorCode = 'EMPTY' | 'UNREADABLE';

/** A file of the caller could not be staged. */
export class StagingError extends StorageError {
  /** Of a content that no further attempt will stage: it has no byte, or failed with the error that is the `cause`. */
  readonly code?: StagingErrorCode;

  constructor(message: string, { code, ...options }: ErrorOptions & { readonly code?: StagingErrorCode } = {}) {
    super(message, code === undefined, options);
    this.code = code;
  }
}

/**
 * Why a result file could not be fetched: `LINK_EXPIRED` asks for fresh links, `OUTPUT_TOO_LARGE` for a higher limit;
 * `CONTENT_WRONG` is of what came whole and is not the file.
 */
export type DownloadErrorCode =
  | 'LINK_EXPIRED'
  | 'CONTENT_WRONG'
  | 'LINK_INVALID'
  | 'DOWNLOAD_CUT_SHORT'
  | 'DOWNLOAD_FAILED'
  | 'DOWNLOAD_TOO_SLOW'
  | 'OUTPUT_TOO_LARGE';

/** A result file could not be fetched completely. Always worth another try with a fresh link. */
export class DownloadError extends StorageError {
  readonly code: DownloadErrorCode;
  readonly httpStatus?: number;

  constructor(code: DownloadErrorCode, message: string, details: ErrorOptions & { readonly httpStatus?: number } = {}) {
    super(message, true, details);
    this.code = code;
    this.httpStatus = details.httpStatus;
  }
}

/** What is known of a body. */
export interface Came {
  readonly bytes: number;
  readonly digest: string;
  readonly algorithm: 'sha256' | 'md5';
}

/** All that came may be the file or a part of it: nothing proves its end. */
export class UnprovenEndError extends DownloadError {
  /** What came, to be compared with what comes next. */
  readonly came: Came;

  constructor(message: string, came: Came) {
    super('DOWNLOAD_CUT_SHORT', message);
    this.came = came;
  }
}

/**
 * Why the archive could not do something: `ARCHIVE_FULL` and `ARCHIVE_UNUSABLE` last until an operator acts,
 * `NOT_WHOLE` means that what was to be kept is not what was expected, `NAME_INVALID` is a mistake in the caller.
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

/** A cause that may be shown: only the redacted message and the code of the error. */
export function safeCause(error: unknown, secrets: readonly string[] = []): Error {
  const code = errorCode(error);
  const cause = new Error(safeText(errorMessage(error), secrets));
  return code === '' ? cause : Object.assign(cause, { code });
}
