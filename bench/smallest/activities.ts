import { mkdir } from 'node:fs/promises';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { heartbeat } from '@temporalio/activity';
import { Agent, request } from 'undici';

/** A task of the service, and how often it is polled. */
export interface SmallestInput {
  readonly webAppId: number;
  readonly inputs: Readonly<Record<string, number>>;
  readonly pollMs: number;
}

/** The same three activities as Longhaul has, without anything that Longhaul promises. */
export interface SmallestActivities {
  readonly create: (input: SmallestInput) => Promise<{ readonly requestId: string }>;
  readonly watch: (input: { readonly requestId: string; readonly pollMs: number }) => Promise<void>;
  readonly fetchOutputs: (input: { readonly requestId: string }) => Promise<{ readonly files: readonly string[] }>;
}

/** What the service's replies are made of, as far as these read them. */
interface Reply {
  readonly requestId?: string;
  readonly data?: { readonly status?: string; readonly outputs?: readonly { readonly object_url?: string }[] };
}

/** Over the service at this address; files go to this folder. */
export function smallestActivities(url: string, apiKey: string, folder: string): SmallestActivities {
  const dispatcher = new Agent({ connections: 64 });
  const ask = async (method: 'GET' | 'POST', path: string, body?: object): Promise<Reply> => {
    const answer = await request(`${url}/w/v1/webapp/task/openapi${path}`, {
      dispatcher,
      method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        'content-type': 'application/json',
        'x-svc-task-async': 'enable',
      },
      body: body === undefined ? null : JSON.stringify(body),
    });
    if (answer.statusCode >= 300) throw new Error(`HTTP ${answer.statusCode}`);
    return (await answer.body.json()) as Reply;
  };
  return {
    create: async ({ webAppId, inputs }) => {
      const { requestId = '' } = await ask('POST', '/create', { web_app_id: webAppId, input_values: inputs });
      return { requestId };
    },
    watch: async ({ requestId, pollMs }) => {
      for (;;) {
        await delay(pollMs);
        const { data } = await ask('GET', `/detail?requestId=${requestId}`);
        if (data?.status === 'Success') return;
        if (data?.status === 'Failed' || data?.status === 'Canceled') throw new Error(data.status);
        heartbeat({ status: data?.status });
      }
    },
    fetchOutputs: async ({ requestId }) => {
      const { data } = await ask('GET', `/outputs?requestId=${requestId}`);
      const place = join(folder, requestId);
      await mkdir(place, { recursive: true });
      const files: string[] = [];
      for (const [index, output] of (data?.outputs ?? []).entries()) {
        const { body } = await request(output.object_url ?? '', { dispatcher });
        const file = join(place, String(index));
        await pipeline(body, createWriteStream(file));
        files.push(file);
      }
      return { files };
    },
  };
}
