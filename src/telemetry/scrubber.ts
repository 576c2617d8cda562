import type { Secret } from '../config/secret';
import { redactUrl } from '../domain/redact-url';

const redacted = '[redacted]';
const urlPattern = /[a-z][a-z0-9+.-]{0,30}:\/\/[^\s"'<>\\]+/gi;
const bearerPattern = /\bBearer\s+[^\s"',;<>\\]+/gi;
/** Fields that hold a secret whatever they are part of; in JSON, and in JSON that stands as text inside of JSON. */
const secretField =
  /(\\*")((?:proxy-)?authorization|x-svc-task-authorization|api_?key|access_key_id|access_key_secret|security_token|secret_?access_?key|session_?token|password)\1(\s*:\s*)(?:\1(?:(?!\1).)*\1|\[[^\]]*\])/gi;
/** A signature's parameters outside of a whole URL: a path with a query, or a query alone. */
const signatureParameter =
  /\b((?:x-(?:amz|oss|goog)-)?(?:signature|credential|security-token)|sig|ossaccesskeyid|awsaccesskeyid|(?:access_)?token)=[^&\s"'\\]+/gi;

/**
 * Takes secrets out of lines of JSON: the known values, and whatever has the shape of one (a bearer token, the query
 * of a link, a field that is named like a credential). The second layer: nothing of this should be logged at all.
 */
export class Scrubber {
  private readonly knownValues: readonly string[];

  constructor(secrets: readonly Secret[] = []) {
    const values = secrets.map((secret) => secret.reveal()).filter((value) => value !== '');
    // A line holds a value as JSON writes it, which is not the same where it has quotation marks or backslashes.
    this.knownValues = [...new Set(values.flatMap((value) => [value, JSON.stringify(value).slice(1, -1)]))];
  }

  /** The line without secrets; still valid JSON when it was. */
  scrub(line: string): string {
    const withoutValues = this.knownValues.reduce((rest, value) => rest.replaceAll(value, redacted), line);
    return withoutValues
      .replace(urlPattern, (url) => redactUrl(url))
      .replace(bearerPattern, `Bearer ${redacted}`)
      .replace(secretField, `$1$2$1$3$1${redacted}$1`)
      .replace(signatureParameter, `$1=${redacted}`);
  }
}
