import { z } from 'zod';
import type { CallbackNotice } from '../contract/task-messages';
import { parseJson } from '../domain/json';
import { isRequestId } from '../domain/create-outcome';
import { safeText } from '../domain/text';
import { withoutUrls } from '../domain/uri';

const maxStatusLength = 64;

/** What is used of a callback's body (specification, section 6); a field that is not named here gets no further. */
const callbackBody = z.object({
  request_id: z.custom<string>(isRequestId),
  status: z.string().transform((text) => withoutUrls(safeText(text)).slice(0, maxStatusLength)),
});

/** The notice in a callback's body; `undefined` when it holds none. */
export function parseCallback(body: Buffer): CallbackNotice | undefined {
  const parsed = callbackBody.safeParse(parseJson(body.toString('utf8')));
  return parsed.success ? { requestId: parsed.data.request_id, status: parsed.data.status } : undefined;
}
