/** The prefix of the service's own headers (specification, sections 1, 4.1 and 6). */
export const defaultHeaderPrefix = 'X-Svc-Task-';

/** What a refusal of the service can mean; which codes mean what is not specified (section 7). */
export const refusalMeanings = [
  'API_ERROR',
  'UNAUTHORIZED',
  'INVALID_REQUEST',
  'INSUFFICIENT_BALANCE',
  'TASK_NOT_FOUND',
  'APP_NOT_FOUND',
  'NOT_FOUND',
  'OUTPUT_GONE',
  'QUEUE_FULL',
  'RATE_LIMITED',
  'SERVICE_UNAVAILABLE',
] as const;

/** One of {@link refusalMeanings}. */
export type RefusalMeaning = (typeof refusalMeanings)[number];

/** Envelope codes of one deployment of the service, over the ones that are built in. */
export interface ServiceCodes {
  /** Codes of success, beside 20000 (section 2.1). */
  readonly success: readonly number[];
  /** What other codes mean. */
  readonly meanings: Readonly<Record<number, RefusalMeaning>>;
}

const entryPattern = /^(-?\d{1,15})\s*=\s*([A-Z_]+)$/;

/** Reads `41007=QUEUE_FULL, 0=SUCCESS`; `undefined` when it is something else, or names a code twice. */
export function parseServiceCodes(text: string): ServiceCodes | undefined {
  const success: number[] = [];
  const meanings: Record<number, RefusalMeaning> = {};
  const entries = text.split(',').map((entry) => entry.trim());
  for (const entry of entries) {
    const [, digits = '', word = ''] = entryPattern.exec(entry) ?? [];
    const code = Number(digits);
    const meaning = refusalMeanings.find((one) => one === word);
    if (digits === '' || success.includes(code) || code in meanings) return undefined;
    if (word === 'SUCCESS') success.push(code);
    else if (meaning !== undefined) meanings[code] = meaning;
    else return undefined;
  }
  return { success, meanings };
}
