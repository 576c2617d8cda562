import type { QueryDefinition, UpdateDefinition } from '@temporalio/common';
import { setHandler } from '@temporalio/workflow';
import { requireDecodable } from '../contract/input-bounds';

export function onQuery<Result>(query: QueryDefinition<Result>, description: string, read: () => Result): void {
  const handler = (...args: readonly unknown[]): Result => {
    requireDecodable(args);
    return read();
  };
  setHandler(query, handler, { description });
}

/** Any client may send anything: `check` throws for invalid arguments. */
export function onUpdate<Result, Args extends unknown[]>(
  update: UpdateDefinition<Result, Args>,
  description: string,
  handle: (...args: Args) => Result | Promise<Result>,
  check: (...args: Args) => void = () => undefined,
): void {
  const validator = (...args: Args): void => {
    requireDecodable(args);
    check(...args);
  };
  setHandler(update, handle as (...args: Args) => Promise<Result>, { description, validator });
}
