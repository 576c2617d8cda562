import { isMoment, isSignature, redact, withoutQuery } from './redact';
import { boundedText } from './text';

/** What a URI can mean to a worker; `foreign` is a kind that no worker opens. */
export type UriKind = 'http' | 's3' | 'foreign';

/** `https:photo.png` is not meant as a path; the parts of a real URI begin after two slashes. */
const uri = /^(?:[a-z][a-z0-9+.-]+:\/\/|(?:s3|https?|file|data):)/i;

/** The kind of URI that names a file or folder; `undefined` for a path. `./` makes a path of what begins like a URI. */
export function uriKind(text: string): UriKind | undefined {
  if (!uri.test(text)) return undefined;
  if (/^https?:\/\//i.test(text)) return 'http';
  return /^s3:/i.test(text) ? 's3' : 'foreign';
}

export function isUri(text: string): boolean {
  return uriKind(text) !== undefined;
}

/** Whether a text begins with a drive, as absolute paths of Windows do: `C:\\photos` or `c:/photos`. No URI does. */
export function isDrivePath(text: string): boolean {
  return /^[a-z]:[\\/]/i.test(text);
}

/** A URL as it may be shown: without query, fragment, user information and what {@link redact} takes out. */
export function redactUrl(url: string): string {
  return redact(withoutQuery(url));
}

const urlWithHost = /[a-z][a-z0-9+.-]{0,30}:\/\/([^\s/?#"'<>\\]*)[^\s"'<>\\]*/gi;

const maxLength = 4_000;

/** Words for a history: redacted, bounded, each URL cut down to its host; an `s3:` URI loses its query. */
export function withoutUrls(text: string): string {
  return boundedText(text, maxLength).replace(urlWithHost, (url, authority: string) =>
    /^s3:/i.test(url) ? withoutQuery(url) : authority.slice(authority.lastIndexOf('@') + 1),
  );
}

/** With backslashes, unlike elsewhere: more of a text is searched here, and none of it is taken out. */
const urlInText = /[a-z][a-z0-9+.-]{0,30}:\/\/[^\s"'<>]+/gi;

/** The first parameter that looks like a signature, in any URL of the text: such a URL must not enter a history. */
export function signatureParameterOf(text: string): string | undefined {
  for (const url of text.match(urlInText) ?? []) {
    const parameters = parametersOf(url);
    const hasExpiry = parameters.some(([, value]) => isMoment(value));
    const found = parameters.find(([name, value]) => isSignature(name, value, hasExpiry));
    if (found !== undefined) return found[0];
  }
  return undefined;
}

/** A URL of the text carries a password (`https://name:password@host`): it must stay out of histories, too. */
export function hasPassword(text: string): boolean {
  return /[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/?#"'<>@:]*:[^\s/?#"'<>]*@/i.test(text);
}

/** Some services put a token behind `#`, some separate by `;`, and a value may be a link itself. */
function parametersOf(url: string): (readonly [name: string, value: string])[] {
  const parts = url.split(/[?#&;]/).slice(1);
  return [
    ...parts,
    ...parts.flatMap((part) =>
      safeDecode(part)
        .split(/[?#&;]/)
        .slice(1),
    ),
  ].map((part) => {
    const [name = '', ...value] = part.split('=').map((text) => safeDecode(text.replaceAll('+', ' ')));
    return [name, value.join('=')];
  });
}

/** A text without its percent escapes; as it is where they are none of UTF-8. */
export function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export interface S3Place {
  readonly bucket: string;
  /** Key of an object, or what the keys of several begin with; may be empty. */
  readonly key: string;
}

const s3Pattern = /^s3:\/\/(?<bucket>[a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(?<key>.*))?$/s;

/** Reads `s3://bucket/key`; undefined when it is none, or its key could be taken for another place by a storage. */
export function parseS3Uri(text: string): S3Place | undefined {
  const { bucket, key = '' } = s3Pattern.exec(text)?.groups ?? {};
  if (bucket === undefined) return undefined;
  const parts = key === '' ? [] : key.split('/');
  const isPlain = parts.every((part) => !['', '.', '..'].includes(part) && !/[\p{Cc}\\]/u.test(part));
  return isPlain ? { bucket, key } : undefined;
}

export function s3Uri({ bucket, key }: S3Place): string {
  return `s3://${bucket}/${key}`;
}

/** Whether a place is under another one, folder by folder: `photos-private/a` is not under `photos`. */
export function isUnder(place: S3Place, { bucket, key }: S3Place): boolean {
  return place.bucket === bucket && (key === '' || place.key.startsWith(`${key}/`));
}

/** Host and port of an address with or without a scheme, and nothing else of it. */
export function addressHost(address: string): string {
  if (address.includes('://') && URL.canParse(address)) return new URL(address).host;
  const [authority = ''] = address.split(/[/?#\\]/, 1);
  return authority.slice(authority.lastIndexOf('@') + 1);
}
