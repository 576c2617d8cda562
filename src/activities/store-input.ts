import { activityInfo, cancellationSignal } from '@temporalio/activity';
import * as v from 'valibot';
import type { InspectInputsInput, InspectInputsResult, StoredInput, StoreInputInput } from '../contract/activities';
import type { UploadedObject } from '../service/inputs';
import { type UploadOptions, uploadWithFreshToken } from '../service/file-upload';
import { UploadError } from '../storage/errors';
import { hashOpenFile, type Measure } from '../storage/hash';
import { openSource } from '../storage/input/open-source';
import { getLimits, getService, requireAllowed } from './accounts';
import { commitUpload } from './shared-uploads';
import type { ActivityDependencies } from './dependencies';
import { withHeartbeat } from './heartbeat';

/**
 * Uploads one input file with a fresh token (specification, section 4.6) and commits it. Token and PUT are one activity
 * as credentials must never be a result, and a separate commit would cost 6 events. After a failed commit the next
 * attempt commits the upload in the heartbeat; any other attempt uploads anew, which costs nothing.
 *
 * A shared file is uploaded only where its account has no resource of this content yet.
 */
export async function storeInput(
  dependencies: ActivityDependencies,
  { account, file, isShared = false, choices }: StoreInputInput,
): Promise<StoredInput> {
  requireAllowed(dependencies.allowed, choices);
  const service = getService(dependencies, account);
  const signal = cancellationSignal();
  const { minimumRate } = dependencies.sources;
  const { uploadConnections: rule, traces } = dependencies;
  const transfer: UploadOptions['transfer'] = traces && ((host, send) => traces.transfer('upload', host, send));
  let progress = { name: file, bytes: 0, totalBytes: null as number | null };
  let uploaded = uploadedIn(activityInfo().heartbeatDetails);
  const commit = async (isAgain: boolean, object: UploadedObject & Measure): Promise<StoredInput> => {
    uploaded = object;
    return { ...object, resource: await commitUpload(service, object, { mayBeCommitted: isAgain, signal }) };
  };
  const store = async (): Promise<StoredInput> => {
    if (uploaded !== undefined) return await commit(true, uploaded);
    const source = await openSource(file, dependencies.sources, signal, (bytes) => {
      progress = { ...progress, bytes };
    });
    try {
      const { name, file: opened, sizeBytes } = source;
      progress = { name, bytes: 0, totalBytes: sizeBytes };
      const onProgress = (bytes: number): void => {
        progress = { ...progress, bytes };
      };
      const attempt = { isSent: false };
      const put = async (): Promise<UploadedObject & Measure> => {
        attempt.isSent = true;
        return await uploadWithFreshToken(service, source, { rule, minimumRate, signal, onProgress, transfer });
      };
      if (!isShared) return await commit(false, await put());
      const measure = await hashOpenFile(opened, sizeBytes, signal);
      const content = { account, name, sha256: measure.sha256 };
      const contentUpload = { service, put: async () => same(await put(), measure), signal };
      const resource = await dependencies.sharedUploads.resourceOf(content, contentUpload);
      const wasShared = attempt.isSent ? undefined : true;
      return { objectKey: resource.objectKey, name, ...measure, resource, wasShared };
    } finally {
      await source.release();
    }
  };
  const details = (): object => ({ transfer: 'upload', ...progress, uploaded });
  return await getLimits(dependencies, account).uploads.run(() => withHeartbeat(details, store));
}

const heartbeatSchema = v.object({
  uploaded: v.object({ objectKey: v.string(), name: v.string(), bytes: v.number(), sha256: v.string() }),
});

function uploadedIn(details: unknown): (UploadedObject & Measure) | undefined {
  const { success, output } = v.safeParse(heartbeatSchema, details);
  return success ? output.uploaded : undefined;
}

function same(uploaded: UploadedObject & Measure, { sha256 }: Measure): UploadedObject {
  if (uploaded.sha256 === sha256) return uploaded;
  throw new UploadError('FILE_CHANGED', `the file changed while it was uploaded as ${uploaded.objectKey}`);
}

export async function inspectInputs(
  dependencies: ActivityDependencies,
  { files }: InspectInputsInput,
): Promise<InspectInputsResult> {
  const signal = cancellationSignal();
  const inspected: InspectInputsResult['files'][number][] = [];
  let current = '';
  await withHeartbeat(
    () => ({ transfer: 'upload', name: current, bytes: 0, totalBytes: null }),
    async () => {
      for (const file of files) {
        current = file;
        const source = await openSource(file, dependencies.sources, signal);
        try {
          inspected.push({ file, ...(await hashOpenFile(source.file, source.sizeBytes, signal)) });
        } finally {
          await source.release();
        }
      }
    },
  );
  return { files: inspected };
}
