/** `undefined` for a text that is not JSON. The parser's own error quotes the text: it stays here. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const stringOrLongNumber = /"[^"\\]*(?:\\.[^"\\]*)*"|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g;

/** As {@link parseJson}, with whole numbers that a double would round, such as ids, as texts of their digits. */
export function parseExactJson(text: string): unknown {
  if (!/\d{16}/.test(text)) return parseJson(text);
  const exact = text.replace(stringOrLongNumber, (part) =>
    part.startsWith('"') || Number.isSafeInteger(Number(part)) ? part : `"${part}"`,
  );
  return parseJson(exact);
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether an object's fields are all that it holds: what a Map, a Date or one with a `toJSON` holds would be lost. */
export function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  if (!isRecord(value) || typeof value['toJSON'] === 'function') return false;
  return Object.keys(value).length > 0 || Object.prototype.toString.call(value) === '[object Object]';
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** JSON with the names of every object in order, so that equal values are equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) => {
    if (typeof one !== 'object' || one === null || Array.isArray(one)) return one;
    return Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
