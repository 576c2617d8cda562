import { ApplicationFailure } from '@temporalio/common';
import type { CommittedInput, CreateTaskInput } from '../contract/activities';
import { failureTypes } from '../contract/failure-types';
import { correlationHeader, isLonghaulWorkflowId } from '../contract/workflow-ids';
import type { CreateTaskAsyncOptions, ServiceClient } from '../service';
import { resourceOfUpload } from '../service/input-resource';

/** Where the service shall report the end of a task, and by which token the receiver knows it. */
export interface CallbackOrder {
  readonly url: string;
  /** Revealed only when a create is sent. */
  readonly token: () => string;
  /** Of the service's headers. @default the specification's */
  readonly headerPrefix?: string;
}

/**
 * The options of a create that asks for a callback to its workflow; none without a receiver, and none for a workflow
 * whose id the receiver would not accept: that task is polled only.
 */
export function callbackOptions(order: CallbackOrder | undefined, workflowId: string): CreateTaskAsyncOptions {
  if (order === undefined || !isLonghaulWorkflowId(workflowId)) return {};
  return {
    callback: { url: order.url, token: order.token() },
    headers: { [correlationHeader(order.headerPrefix)]: workflowId },
  };
}

/**
 * Puts a URL, name or id in the place of each resource. URLs may be time-limited (specification, section 2.7) and must
 * not enter a history, so they are looked up here, just before the create is sent. So is a resource that was there
 * before, whatever form is wanted of it: it may have been deleted since.
 */
export async function resolveResources(
  service: ServiceClient,
  inputs: CreateTaskInput['inputs'],
): Promise<Record<string, string | number>> {
  const urls = new Map<string, Promise<string>>();
  const urlOf = (resource: CommittedInput): Promise<string> => {
    const asked = urls.get(resource.objectKey) ?? lookUp(service, resource);
    urls.set(resource.objectKey, asked);
    return asked;
  };
  const entries = Object.entries(inputs).map(async ([key, value]) => {
    if (typeof value !== 'object') return [key, value] as const;
    const { resource, as } = value;
    const url = as === 'url' || resource.wasListed === true ? await urlOf(resource) : '';
    if (as === 'id') return [key, resource.resourceId] as const;
    return [key, as === 'name' ? resource.name : url] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

async function lookUp(service: ServiceClient, resource: CommittedInput): Promise<string> {
  const { objectKey, resourceId, name, wasListed = false } = resource;
  const found = resourceOfUpload(await service.listInputs({ objectKey }), { name, id: resourceId });
  if (found !== undefined) return found.url;
  if (wasListed) {
    throw ApplicationFailure.nonRetryable(
      `the input "${name}" was deleted at the service after an earlier upload of it was found there; ` +
        'nothing was created: start the task again, and it is uploaded anew',
      failureTypes.InputUnusable,
    );
  }
  throw ApplicationFailure.create({
    type: failureTypes.ServiceReplyInvalid,
    message: `the service does not list the committed input "${name}" (yet)`,
  });
}
