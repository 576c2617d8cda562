import { isRequestId } from './create-outcome';
import { isRecord } from './json';
import { safeText } from './text';
import { withoutUrls } from './uri';

const maxStatusLength = 64;

/** The task that the body of a callback names (specification, section 6); `undefined` when it names none. */
export function readNamedEnd(body: unknown): { readonly requestId: string; readonly status: string } | undefined {
  if (!isRecord(body)) return undefined;
  const { request_id: requestId, status } = body;
  if (!isRequestId(requestId) || typeof status !== 'string') return undefined;
  return { requestId, status: withoutUrls(safeText(status)).slice(0, maxStatusLength) };
}
