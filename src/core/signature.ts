const signatureName =
  /(?:^|-)(?:signature|credential|security-token|sig|(?:oss|aws)accesskeyid|googleaccessid|(?:auth_|access_)?token|auth_key|(?:api|access)_?key)$/i;
/** Names of what is long and random in links that open nothing, too: ids, versions, hashes and names of content, its processing. */
const contentName =
  /(?:id|^v|^ver|version|^rev|revision|^ref|etag|hash|md5|sha\d*|checksum|digest|commit|file|image|photo|picture|asset|process)$/i;
/** A link or a path to a file in a value; what stands behind `?` and `#` of it is looked at, too, as a parameter of its own. */
const placeInValue = /^(?:(?:[a-z][a-z0-9+.-]*:)?\/\/[^?#&;]*|[^?#&;]*\.[a-z0-9]{1,5}(?=[?#]))/i;
const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;
const fileName = /\.[a-z0-9]{1,5}$/i;
const hexOfHash = /(?:^|[^0-9a-z])(?=\d*[a-f])[0-9a-f]{32,}(?![0-9a-z])/i;
const jwt = /eyJ[\w-]{8,}\.eyJ[\w-]+\./;
/** From the length of an MD5 on, its padding left out. */
const base64Run = /[0-9a-z+/_~-]{22,}/gi;
/** Of its places, where a kind of character follows another as in no word: 0.42 in base64, less than 0.2 in names. */
const minChangesOfKind = 0.2;

/** Whether a parameter is part of a signed link, by its name or by a value as random as a hash. Beside an expiry less is enough. */
export function isSignature(name: string, value: string, hasExpiry = false): boolean {
  if (signatureName.test(name)) return true;
  if (fileName.test(value) || (contentName.test(name) && !hasExpiry)) return false;
  const text = value.replace(placeInValue, '').replace(uuid, '');
  return (
    hexOfHash.test(text) || jwt.test(text) || (text.match(base64Run) ?? []).some((run) => isBase64(run, hasExpiry))
  );
}

/** Whether a value is a moment, as the one beside a signature at which the link expires. */
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
