import type { Evidence } from './evidence';

/** What must not be found: a value, whatever has that shape, or whatever a check of your own says. */
export interface Forbidden {
  /** What it is, for the message of a failed test; never the value itself. */
  readonly name: string;
  readonly what: string | RegExp | ((text: string) => boolean);
}

const base64Run = /[A-Za-z0-9+/_-]{16,}={0,2}/g;
/** Base64 inside of base64: a payload in a payload. */
const depth = 2;

/** Where something forbidden stands, as it is or in base64; each line says what and where. */
export function findForbidden(evidence: readonly Evidence[], forbidden: readonly Forbidden[]): string[] {
  return evidence.flatMap(({ where, text }) => {
    const readings = readingsOf(text, depth);
    return forbidden
      .filter(({ what }) => readings.some((reading) => isIn(what, reading)))
      .map(({ name }) => `${name} in ${where}`);
  });
}

function isIn(what: Forbidden['what'], text: string): boolean {
  if (typeof what === 'function') return what(text);
  return typeof what === 'string' ? text.includes(what) : what.test(text);
}

/** The text itself, and what each run of base64 in it says. */
function readingsOf(text: string, levels: number): string[] {
  if (levels === 0) return [text];
  const decoded = (text.match(base64Run) ?? []).map((run) => Buffer.from(run, 'base64').toString('latin1'));
  return [text, ...decoded.flatMap((one) => readingsOf(one, levels - 1))];
}

/** A URL of one of these hosts (`host:port`, or a domain with its subdomains); with `query`, only one that has one. */
export function urlsOf(hosts: readonly string[], options: { readonly query: boolean }): RegExp {
  const names = hosts.map((host) => host.replace(/[.[\]]/g, '\\$&')).join('|');
  return new RegExp(`https?://([\\w-]+\\.)*(${names})${options.query ? '[^\\s"\'<>]*\\?' : ''}`, 'i');
}
