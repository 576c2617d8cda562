import { isRequestId } from './create-outcome';
import { isRecord } from './json';
import { safeText } from './text';
import { withoutUrls } from './uri';

export interface NamedEnd {
  readonly requestId: string;
  /** The service's own word, bounded and free of secrets. */
  readonly status: string;
}

const maxStatusLength = 64;

/** The task that the body of a callback names (specification, section 6); `undefined` when it names none. */
export function readNamedEnd(body: unknown): NamedEnd | undefined {
  if (!isRecord(body)) return undefined;
  const { request_id: requestId, status } = body;
  if (!isRequestId(requestId) || typeof status !== 'string') return undefined;
  return { requestId, status: withoutUrls(safeText(status)).slice(0, maxStatusLength) };
}
