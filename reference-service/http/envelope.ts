import type { RefusalCode } from '../refusal';

/** The envelope around every answer but that of create (specification section 2.1). */
export interface Envelope {
  readonly code: number;
  readonly message: string;
  readonly status: boolean;
  readonly data: unknown;
}

/** The envelope of a success. */
export function success(data: unknown): Envelope {
  return { code: 20000, message: 'Ok', status: true, data };
}

/** The envelope of a refusal. */
export function failure({ code }: RefusalCode, message: string): Envelope {
  return { code, message, status: false, data: null };
}
