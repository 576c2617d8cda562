import { CallbackSink } from './callback-sink';
import { PlainHttp } from './plain-http';
import { Secrets } from './secrets';
import type { Target } from './target';
import { CALLBACK_TOKEN, TaskJourneys } from './task-journeys';
import { UploadJourneys } from './upload-journeys';

/** What the clauses look at a service with: plain HTTP, and the journeys they share. */
export interface ServiceContext {
  readonly target: Target;
  readonly http: PlainHttp;
  readonly uploads: UploadJourneys;
  readonly tasks: TaskJourneys;
  readonly secrets: Secrets;
  close(): Promise<void>;
}

/** Prepares to look at a service; asks it nothing yet. */
export async function openServiceContext(target: Target): Promise<ServiceContext> {
  const secrets = new Secrets();
  secrets.learn(target.apiKey);
  secrets.learn(CALLBACK_TOKEN);
  const { baseUrl, apiKey, pace } = target;
  const http = new PlainHttp({ baseUrl, apiKey, longestMs: pace.taskWithinMs });
  const sink = new CallbackSink(target.callbacks?.publicUrl);
  await sink.start(target.callbacks?.port ?? 0);
  const uploads = new UploadJourneys(http, secrets.learn);
  return {
    target,
    http,
    uploads,
    tasks: new TaskJourneys({ target, http, uploads, sink }),
    secrets,
    close: async () => {
      await http.close();
      await sink.stop();
    },
  };
}
