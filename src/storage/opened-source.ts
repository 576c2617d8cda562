import type { FileHandle } from 'node:fs/promises';
import type { S3Client } from '@aws-sdk/client-s3';
import type { MinimumRate } from './minimum-rate';
import type { S3Place } from '../domain/uri';

/** Objects that may be inputs, and who asks for them. */
export interface ObjectRules {
  readonly client: S3Client;
  /** Where the objects lie. */
  readonly places: readonly S3Place[];
}

/** What input files may be read from where. */
export interface SourceRules {
  /** Folders under which local files may lie. */
  readonly inputRoots: readonly string[];
  /** Lower-case hosts, with a port where one is meant, that may be asked although they are not public, also by http. */
  readonly inputHosts: readonly string[];
  /** Absent: no object may be read. */
  readonly objects?: ObjectRules;
  /** The least rate at which an input is fetched and uploaded. Absent: any. */
  readonly minimumRate?: MinimumRate;
  /** Largest input file, in bytes. */
  readonly maxBytes: number;
  /** Folder for files from elsewhere while they are in use; made when it is missing. */
  readonly spoolFolder: string;
}

/** An input file that can be read now. */
export interface OpenedSource {
  /** The original file name, without any folder. */
  readonly name: string;
  readonly sizeBytes: number;
  /** Its bytes; read them by position, so that several can read at the same time. */
  readonly file: FileHandle;
  /** By the name's extension; `application/octet-stream` when that says nothing. */
  readonly contentType: string;
  /** Closes it; a temporary copy is gone then. May be repeated. */
  release(): Promise<void>;
}
