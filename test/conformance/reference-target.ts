import { join } from 'node:path';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import type { ReferenceService } from '../../reference-service/start-reference-service';
import { startReferenceStack, type ReferenceStackOptions } from '../../tools/reference-stack';
import { specifiedPace, type Pace, type Target } from './target';

export interface ReferenceTarget {
  readonly target: Target;
  readonly service: ReferenceService;
}

const PHOTO = { file: join(__dirname, '../../examples/photos/rocket.jpg') };

/** Short enough to be waited for, long enough for what happens in between. */
const LIFETIMES = { linkLifetimeMs: 3_000, credentialLifetimeMs: 3_000 };

const OTHER_BUCKET = 'bucket-of-others';

/** For tests: what takes the service seconds by the specification takes it fractions of one. */
export const shortPace: Pace = {
  pollEveryMs: 60,
  taskWithinMs: 30_000,
  callbackRetryMs: 400,
  callbackAttempts: specifiedPace.callbackAttempts,
  callbackTimeoutMs: 800,
};

/**
 * Starts the reference service with its S3 server, set up so that every state of a task can be seen; its links and
 * credentials last a few seconds, so that their end can be seen as well. Callbacks keep the service's own defaults
 * unless `pace` is another than the specified one. `settings` are set over all that.
 */
export async function startReferenceTarget(
  pace: Pace = specifiedPace,
  settings: ReferenceStackOptions = {},
): Promise<ReferenceTarget> {
  const { callbackRetryMs, callbackAttempts, callbackTimeoutMs } = pace;
  const service = await startReferenceStack({
    slots: 16,
    timings: { queueDelayMs: 1_500, preparingMs: 300, minimumRunningMs: 700 },
    ...LIFETIMES,
    ...(pace !== specifiedPace && {
      callbacks: { retryEveryMs: callbackRetryMs, maxAttempts: callbackAttempts, timeoutMs: callbackTimeoutMs },
    }),
    ...settings,
  });
  await createBucket(service, OTHER_BUCKET);
  const target: Target = {
    otherBucket: OTHER_BUCKET,
    baseUrl: service.url,
    apiKey: service.apiKey,
    mayPay: true,
    mayUpload: true,
    app: {
      webAppId: 1,
      inputs: { '1:LoadImage.image': PHOTO, '2:ImageScale.width': 320, '2:ImageScale.upscale_method': 'bilinear' },
    },
    failingApp: { webAppId: 3, inputs: { '1:LoadImage.image': PHOTO } },
    slowApp: { webAppId: 5, inputs: { '2:Wait.seconds': 60 } },
    pace: { ...pace, pollEveryMs: Math.min(pace.pollEveryMs, shortPace.pollEveryMs), ...LIFETIMES },
  };
  return { target, service };
}

async function createBucket({ storage }: ReferenceService, bucket: string): Promise<void> {
  const client = new S3Client({
    endpoint: storage.endpoint,
    forcePathStyle: true,
    region: storage.region,
    credentials: { accessKeyId: storage.rootAccessKeyId, secretAccessKey: storage.rootSecretAccessKey },
  });
  try {
    await client.send(new CreateBucketCommand({ Bucket: bucket }));
  } finally {
    client.destroy();
  }
}
