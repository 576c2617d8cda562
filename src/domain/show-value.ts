import { safeText } from './safe-text';

const maxLength = 120;

/** A value as a person wrote it, for a message: as JSON, short, and without the secrets it may hold. */
export function showValue(value: unknown): string {
  if (value === undefined) return 'missing';
  const text = safeText(toJson(value) ?? `a ${typeof value}`);
  return text.length > maxLength ? `${text.slice(0, maxLength - 3)}…` : text;
}

/** `undefined` for what JSON cannot hold. */
function toJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
