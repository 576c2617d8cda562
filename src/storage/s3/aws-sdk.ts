/* What Longhaul uses of the AWS SDK; the build inlines it here instead of 40 packages (docs/decisions/0031). */
import { state } from '@aws-sdk/core/client';

// Its notice about later versions of Node is not for Longhaul's user.
state.warningEmitted = true;

export {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
export type { CompletedPart, S3ClientConfig } from '@aws-sdk/client-s3';
export { getSignedUrl } from '@aws-sdk/s3-request-presigner';
