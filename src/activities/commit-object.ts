import type { CommittedInput } from '../contract/activities';
import type { ServiceClient } from '../service';

/** An object that was uploaded with the credentials of a token. */
export interface UploadedObject {
  readonly objectKey: string;
  /** The original file name. */
  readonly name: string;
}

/**
 * Makes an uploaded object an input resource (specification, section 4.7). Whether a commit may be repeated is not
 * specified, so one that may be committed already is first looked up in the list of resources.
 */
export async function commitObject(
  service: ServiceClient,
  { objectKey, name }: UploadedObject,
  { mayBeCommitted, signal }: { readonly mayBeCommitted: boolean; readonly signal: AbortSignal },
): Promise<CommittedInput> {
  if (mayBeCommitted) {
    const { list } = await service.listInputs({ objectKey }, { signal });
    const [committed] = list;
    if (committed !== undefined) return { resourceId: committed.id, name, objectKey };
  }
  const { id } = await service.commitInput({ name, objectKey }, { signal });
  return { resourceId: id, name, objectKey };
}
