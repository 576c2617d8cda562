import type { QueryDefinition, SignalDefinition, UpdateDefinition } from '@temporalio/common';

/*
 * What `defineSignal`, `defineQuery` and `defineUpdate` of `@temporalio/workflow` return: a message by its name. Clients
 * load these definitions, too, and would load the SDK of workflows for them.
 */

/** The definition of a signal; its name is durable. */
export function defineSignal<Args extends unknown[] = []>(name: string): SignalDefinition<Args> {
  return { type: 'signal', name } as SignalDefinition<Args>;
}

/** The definition of a query; its name is durable. */
export function defineQuery<Answer, Args extends unknown[] = []>(name: string): QueryDefinition<Answer, Args> {
  return { type: 'query', name } as QueryDefinition<Answer, Args>;
}

/** The definition of an update; its name is durable. */
export function defineUpdate<Answer, Args extends unknown[] = []>(name: string): UpdateDefinition<Answer, Args> {
  return { type: 'update', name } as UpdateDefinition<Answer, Args>;
}
