import {
  startReferenceService,
  type ReferenceService,
  type ReferenceServiceOptions,
} from '../reference-service/start-reference-service';
import { startS3 } from './s3-server';

/** Settings of the service; the storage is this module's choice. */
export type ReferenceStackOptions = Omit<ReferenceServiceOptions, 'startStorage'>;

/** Starts the reference service on a real S3 server of its own; stopping the service stops both. */
export function startReferenceStack(options: ReferenceStackOptions = {}): Promise<ReferenceService> {
  // The AWS SDK's notice about this Node would stand between the lines of the demo and the tests.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
  return startReferenceService({ ...options, startStorage: ({ iamSocket, region }) => startS3({ iamSocket, region }) });
}
