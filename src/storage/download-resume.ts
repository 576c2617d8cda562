import type { IncomingHttpHeaders } from 'node:http';

/** A reply with a body, and the URL it came from. */
export interface BodyReply {
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  /** From its Content-Length. */
  readonly sizeBytes: number | undefined;
}

/** From its Content-Length; undefined where there is none. */
export function readLength({ 'content-length': length }: IncomingHttpHeaders): number | undefined {
  return typeof length === 'string' && /^\d{1,15}$/.test(length) ? Number(length) : undefined;
}

/** Asks for the rest of the same version; undefined where nothing tells one version from another. */
export function headersToResume(
  { headers, sizeBytes }: BodyReply,
  fromByte: number,
): Record<string, string> | undefined {
  const validator = headers[validatorHeader(headers) ?? ''];
  if (sizeBytes === undefined || fromByte >= sizeBytes || typeof validator !== 'string') return undefined;
  return { range: `bytes=${fromByte}-`, 'if-range': validator };
}

/** Whether a reply brings the rest of the same version of the same file; a server or a proxy may ignore what was asked. */
export function isRest(first: BodyReply, next: BodyReply & { readonly statusCode: number }, fromByte: number): boolean {
  const { sizeBytes = 0 } = first;
  const validator = validatorHeader(first.headers) ?? '';
  return (
    next.statusCode === 206 &&
    next.sizeBytes === sizeBytes - fromByte &&
    next.headers['content-range'] === `bytes ${fromByte}-${sizeBytes - 1}/${sizeBytes}` &&
    next.headers[validator] === first.headers[validator] &&
    (next.headers['content-encoding'] ?? first.headers['content-encoding']) === first.headers['content-encoding'] &&
    // The tags of two places may be equal by chance.
    place(next.url) === place(first.url)
  );
}

function place({ origin, pathname }: URL): string {
  return `${origin}${pathname}`;
}

/** Which header tells versions apart (RFC 9110, section 13.1.5): a strong tag, or without any a time that is over. */
function validatorHeader({ etag, date, 'last-modified': changed }: IncomingHttpHeaders): string | undefined {
  if (etag !== undefined) return /^"[\x21\x23-\x7e]+"$/.test(etag) ? 'etag' : undefined;
  const ageMs = Date.parse(date ?? '') - Date.parse(changed ?? '');
  return ageMs >= 1_000 ? 'last-modified' : undefined;
}
