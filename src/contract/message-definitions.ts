import type { QueryDefinition, SignalDefinition, UpdateDefinition } from '@temporalio/common';

// As in `@temporalio/workflow`; clients load these, and would load its whole SDK for them. The names are durable.

export function defineSignal<Args extends unknown[] = []>(name: string): SignalDefinition<Args> {
  return { type: 'signal', name } as SignalDefinition<Args>;
}

export function defineQuery<Answer, Args extends unknown[] = []>(name: string): QueryDefinition<Answer, Args> {
  return { type: 'query', name } as QueryDefinition<Answer, Args>;
}

export function defineUpdate<Answer, Args extends unknown[] = []>(name: string): UpdateDefinition<Answer, Args> {
  return { type: 'update', name } as UpdateDefinition<Answer, Args>;
}
