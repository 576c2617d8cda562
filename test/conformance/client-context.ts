import { ServiceClient } from '../../src/service';
import { recommendedPollBounds, type PollBounds } from '../../src/core/poll-cadence';
import { defaultTimeouts } from '../../src/service/client-options';
import { CallbackSink } from './callback-sink';
import { ClientJourneys } from './client-journeys';
import { Secrets } from './secrets';
import type { Target } from './target';
import { CALLBACK_TOKEN } from './task-journeys';

/** What the clauses look at a service with when they go through the project's own client. */
export interface ClientContext {
  readonly target: Target;
  readonly client: ServiceClient;
  readonly withKey: (apiKey: string) => ServiceClient;
  readonly journeys: ClientJourneys;
  readonly secrets: Secrets;
  /** What the project does unless it is told otherwise. */
  readonly defaults: { readonly syncTimeoutMs: number; readonly poll: PollBounds };
  close(): Promise<void>;
}

/** Prepares to look at a service through the client; asks it nothing yet. */
export async function openClientContext(target: Target): Promise<ClientContext> {
  const secrets = new Secrets();
  secrets.learn(target.apiKey);
  secrets.learn(CALLBACK_TOKEN);
  const clients: ServiceClient[] = [];
  const withKey = (apiKey: string): ServiceClient => {
    const client = new ServiceClient({ baseUrl: target.baseUrl, apiKey });
    clients.push(client);
    return client;
  };
  const client = withKey(target.apiKey);
  const sink = new CallbackSink(target.callbacks?.publicUrl);
  await sink.start(target.callbacks?.port ?? 0);
  return {
    target,
    client,
    withKey,
    journeys: new ClientJourneys({ target, client, sink }),
    secrets,
    defaults: { syncTimeoutMs: defaultTimeouts.syncMs, poll: recommendedPollBounds },
    close: async () => {
      for (const each of clients) await each.close();
      await sink.stop();
    },
  };
}
