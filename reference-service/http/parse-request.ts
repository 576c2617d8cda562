import { z } from 'zod';
import { Refusal } from '../refusal';

/** Query of the endpoints that ask about one task (sections 4.2 to 4.5). */
export const requestIdQuery = z.object({ requestId: z.string('is required').min(1, 'must not be empty') });

/** Checks a query or body. Throws a {@link Refusal} that names each field in question. */
export function parseRequest<Output>(schema: z.ZodType<Output>, value: unknown): Output {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues
    .slice(0, 5)
    .map(({ path, message }) => `${path.join('.') || 'the body'}: ${message}`);
  throw new Refusal('badParameter', problems.join('; '));
}
