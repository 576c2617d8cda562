import { cancellationSignal } from '@temporalio/activity';
import type { StoredInput, StoreInputInput } from '../contract/activities';
import { openSource } from '../storage/source';
import { uploadInput } from '../storage/upload';
import { serviceOf } from './account-service';
import type { ActivityDependencies } from './dependencies';
import { withHeartbeat } from './heartbeat';

/**
 * Uploads one input file with a fresh token (specification, section 4.6). Token and PUT are one activity, because
 * credentials must never be an activity's result. A repeated attempt takes a new token and a new key; what an earlier
 * one uploaded is never committed, and costs nothing.
 */
export async function storeInput(
  parts: ActivityDependencies,
  { account, file }: StoreInputInput,
): Promise<StoredInput> {
  const service = serviceOf(parts, account);
  const signal = cancellationSignal();
  let progress = { name: file, bytes: 0, totalBytes: null as number | null };
  return await withHeartbeat(
    () => ({ transfer: 'upload', ...progress }),
    async () => {
      const source = await openSource(file, parts.sources, signal);
      try {
        const { name, path, sizeBytes, contentType } = source;
        progress = { name, bytes: 0, totalBytes: sizeBytes };
        const token = await service.getUploadToken(name, { signal });
        const onProgress = (bytes: number): void => {
          progress = { ...progress, bytes };
        };
        const uploaded = await uploadInput({ token, body: path, sizeBytes, contentType, signal, onProgress });
        return { objectKey: token.objectKey, name, ...uploaded };
      } finally {
        await source.release();
      }
    },
  );
}
