const redacted = '[redacted]';

/** A shorter value would be found in ordinary words. */
const minSecretLength = 4;
/** Credentials of the last 64 upload tokens: more uploads do not run at the same time in one process. */
const maxTemporary = 192;

const bucketCount = 4_096;

/** Finds which of many values a text holds in one pass over it, by their first three characters. */
class ValueIndex {
  /** Made with the first value: the workflow sandbox has none. */
  #buckets: Set<string>[] | undefined;

  add(value: string): void {
    this.#buckets ??= new Array<Set<string>>(bucketCount);
    (this.#buckets[bucketOf(value, 0)] ??= new Set()).add(value);
  }

  delete(value: string): void {
    this.#buckets?.[bucketOf(value, 0)]?.delete(value);
  }

  foundIn(text: string): string[] {
    if (this.#buckets === undefined) return [];
    const found = new Set<string>();
    const lastStart = text.length - minSecretLength;
    for (let start = 0; start <= lastStart; start += 1) {
      const bucket = this.#buckets[bucketOf(text, start)];
      if (bucket === undefined) continue;
      for (const value of bucket) {
        if (!found.has(value) && text.startsWith(value, start)) found.add(value);
      }
    }
    return [...found];
  }
}

function bucketOf(text: string, start: number): number {
  const code = text.charCodeAt(start) ^ (text.charCodeAt(start + 1) << 3) ^ (text.charCodeAt(start + 2) << 6);
  return code & (bucketCount - 1);
}

/** The secrets of this process: the code that reads or receives one adds it. Empty in the workflow sandbox. */
class KnownSecrets {
  readonly #lasting = new Set<string>();
  readonly #temporary = new Set<string>();
  readonly #index = new ValueIndex();
  /** Of all that were ever added: most words of a service are shorter. */
  #shortestLength = Number.POSITIVE_INFINITY;

  /** Remembers values for as long as the process runs, and what base64 makes of them. */
  add(...values: readonly string[]): void {
    for (const value of values) {
      if (this.#lasting.has(value)) continue;
      this.#remember(value, this.#lasting);
      for (const encoded of inBase64(value)) this.#remember(encoded, this.#lasting);
    }
  }

  addTemporary(...values: readonly string[]): void {
    for (const value of values) {
      this.#temporary.delete(value);
      this.#remember(value, this.#temporary);
    }
    for (const oldest of this.#temporary) {
      if (this.#temporary.size <= maxTemporary) return;
      this.#temporary.delete(oldest);
      if (!this.#lasting.has(oldest)) this.#index.delete(oldest);
    }
  }

  /** The text without any of them, nor of `further`; the longer first, for one may contain another. */
  removeFrom(text: string, further: readonly string[]): string {
    if (text.length < this.#shortestLength && further.length === 0) return text;
    return [...this.#index.foundIn(text), ...further.filter((value) => value !== '' && text.includes(value))]
      .sort((one, other) => other.length - one.length)
      .reduce((rest, value) => rest.replaceAll(value, redacted), text);
  }

  #remember(value: string, values: Set<string>): void {
    if (value.length < minSecretLength) return;
    values.add(value);
    this.#index.add(value);
    this.#shortestLength = Math.min(this.#shortestLength, value.length);
  }
}

const minEncodedLength = 8;

/** Base64, also its form for URLs, of a value at any byte offset, without characters shared with its neighbours. */
function inBase64(value: string): readonly string[] {
  if (value.length < minEncodedLength) return [];
  return [0, 1, 2].flatMap((bytesBefore) => {
    const bytes = new TextEncoder().encode(`${' '.repeat(bytesBefore)}${value}`);
    const encoded = btoa(String.fromCharCode(...bytes)).replace(/={0,2}$/, '');
    const own = encoded.slice(bytesBefore === 0 ? 0 : bytesBefore + 1, bytes.length % 3 === 0 ? undefined : -1);
    const ofUrls = own.replaceAll('+', '-').replaceAll('/', '_');
    return own === ofUrls ? [own] : [own, ofUrls];
  });
}

export const knownSecrets = new KnownSecrets();

/** Without one of these no text holds a link, an escape, a field or a bearer token: most words of a service do not. */
const suspicious = /[=?%&\\"]|:\/\/|bearer\s/i;
const urlInText = /[a-z][a-z0-9+.-]{0,30}:\/\/[^\s"'<>\\]+/gi;
const wordInText = /[^\s"'<>\\]+/g;
const bearerInText = /\bbearer\s+[^\s"',;<>\\]+/gi;
const credential =
  '(?:proxy-)?authorization|x-svc-task-authorization|api_?key|access_key_id|access_key_secret|security_token|secret_?access_?key|session_?token|password';
const secretName = new RegExp(`^(?:${credential})$`, 'i');
/** Such a field in JSON, and in JSON that is text inside of JSON. */
const secretField = new RegExp(
  String.raw`(?<!\\)(\\{0,15}")(${credential})\1(\s{0,100}:\s{0,100})(?:\1(?:(?!\1).)*\1|\[[^\][]*\]?)`,
  'gi',
);
/** A parameter, also where no whole URL is around it. */
const parameter = /(?<![\w-])([\w-]{1,64})=([^&\s"'\\<>;,]+)/g;
/** The query of a link without a scheme is cut from this length on: shorter ones are words with a question mark. */
const minQueryLength = 24;

const escaped = /(?:%[0-9a-f]{2})+|\\u[0-9a-f]{4}|\\x[0-9a-f]{2}|\\[\\/"]|&(?:amp|quot|#\d{1,7}|#x[0-9a-f]{1,6});/gi;
const maxEscapeLevels = 4;

/**
 * Removes known secrets, `further` ones, bearer tokens, fields named like a credential and the queries of links, also
 * behind escapes: such a text comes back decoded. Of other codings only the base64 of a lasting secret is found.
 */
export function redact(text: string, further: readonly string[] = []): string {
  if (!suspicious.test(text)) return knownSecrets.removeFrom(text, further);
  let shown = redactPlain(text, further);
  let view = shown;
  for (let level = 0; level < maxEscapeLevels; level += 1) {
    const decoded = view.replace(escaped, decode);
    if (decoded === view) break;
    view = redactPlain(decoded, further);
    if (view !== decoded) shown = view;
  }
  return shown;
}

const maxDepth = 50;

/** The same for every text and field name of a JSON value; a field named like a credential is left out. */
export function redactJson(value: unknown, redactText: (text: string) => string = redact, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === maxDepth) return '[nested too deep]';
  if (Array.isArray(value)) return value.map((one) => redactJson(one, redactText, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      redact(name),
      secretName.test(name) ? redacted : redactJson(one, redactText, depth + 1),
    ]),
  );
}

function redactPlain(text: string, further: readonly string[]): string {
  return withoutLongQueries(knownSecrets.removeFrom(text, further).replace(urlInText, withoutQuery))
    .replace(bearerInText, `Bearer ${redacted}`)
    .replace(secretField, `$1$2$1$3$1${redacted}$1`)
    .replace(parameter, (whole, name: string, value: string) =>
      isSignature(name, value) ? `${name}=${redacted}` : whole,
    );
}

/** A URL without its query, fragment and user information, which is where signatures, tokens and passwords are. */
export function withoutQuery(url: string): string {
  const [address = ''] = url.split(/[?#]/, 1);
  return address.replace(/^([a-z][a-z0-9+.-]{0,30}:\/\/)[^/]*@/i, '$1');
}

function withoutLongQueries(text: string): string {
  return text.includes('?') ? text.replace(wordInText, withoutLongQuery) : text;
}

function withoutLongQuery(word: string): string {
  const queryAt = word.indexOf('?');
  if (queryAt < 0 || word.length - queryAt < minQueryLength) return word;
  const isLink = word.lastIndexOf('/', queryAt) >= 0 && word.includes('=', queryAt);
  return isLink ? word.slice(0, queryAt) : word;
}

const htmlEntities: Readonly<Record<string, string>> = { '&amp;': '&', '&quot;': '"' };

function decode(escape: string): string {
  if (escape.startsWith('%')) return percentDecoded(escape);
  if (escape.startsWith('&#x') || escape.startsWith('&#X')) return character(escape.slice(3, -1), 16);
  if (escape.startsWith('&#')) return character(escape.slice(2, -1), 10);
  if (escape.startsWith('&')) return htmlEntities[escape.toLowerCase()] ?? escape;
  return escape.length === 2 ? escape.slice(1) : character(escape.slice(2), 16);
}

function percentDecoded(escape: string): string {
  try {
    return decodeURIComponent(escape);
  } catch {
    return escape.replace(/%(..)/g, (_whole, hex: string) => character(hex, 16));
  }
}

function character(digits: string, radix: 10 | 16): string {
  const code = Number.parseInt(digits, radix);
  return code <= 0x10ffff ? String.fromCodePoint(code) : '';
}

const signatureName =
  /(?:^|-)(?:signature|credential|security-token|sig|(?:oss|aws)accesskeyid|googleaccessid|(?:auth_|access_)?token|auth_key|(?:api|access)_?key)$/i;
/** Parameters that are long and random and open nothing: ids, versions, hashes, names and processing of content. */
const contentName =
  /(?:id|^v|^ver|version|^rev|revision|^ref|etag|hash|md5|sha\d*|checksum|digest|commit|file|image|photo|picture|asset|process)$/i;
/** A link or a path to a file in a value; what follows its `?` and `#` is looked at as a parameter of its own, too. */
const placeInValue = /^(?:(?:[a-z][a-z0-9+.-]*:)?\/\/[^?#&;]*|[^?#&;]*\.[a-z0-9]{1,5}(?=[?#]))/i;
const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;
const fileName = /\.[a-z0-9]{1,5}$/i;
const hexOfHash = /(?:^|[^0-9a-z])(?=\d*[a-f])[0-9a-f]{32,}(?![0-9a-z])/i;
const jwt = /eyJ[\w-]{8,}\.eyJ[\w-]+\./;
/** From the length of an MD5 on, its padding left out. */
const base64Run = /[0-9a-z+/_~-]{22,}/gi;
/** Share of places where the kind of character changes as in no word: 0.42 in base64, less than 0.2 in names. */
const minChangesOfKind = 0.2;

/** Whether a parameter signs a link: by its name, or a value as random as a hash. Beside an expiry less is enough. */
export function isSignature(name: string, value: string, hasExpiry = false): boolean {
  if (signatureName.test(name)) return true;
  if (fileName.test(value) || (contentName.test(name) && !hasExpiry)) return false;
  const text = value.replace(placeInValue, '').replace(uuid, '');
  return (
    hexOfHash.test(text) || jwt.test(text) || (text.match(base64Run) ?? []).some((run) => isBase64(run, hasExpiry))
  );
}

export function isMoment(value: string): boolean {
  return /^(?:[1-4]\d{9}(?:\d{3})?|\d{4}-?\d\d-?\d\dT\d\d:?\d\d.*)$/.test(value);
}

function isBase64(run: string, hasExpiry: boolean): boolean {
  const kinds = Array.from(run, kindOf);
  if (!kinds.includes('capital') || !kinds.includes('letter') || !(hasExpiry || kinds.includes('digit'))) return false;
  const changes = kinds.filter((kind, index) => {
    const before = kinds[index - 1] ?? 'other';
    return kind !== before && kind !== 'other' && before !== 'other' && !(before === 'capital' && kind === 'letter');
  });
  return changes.length >= (hasExpiry ? 0.1 : minChangesOfKind) * (kinds.length - 1);
}

function kindOf(character: string): 'digit' | 'capital' | 'letter' | 'other' {
  if (/[0-9]/.test(character)) return 'digit';
  if (/[A-Z]/.test(character)) return 'capital';
  return /[a-z]/.test(character) ? 'letter' : 'other';
}
