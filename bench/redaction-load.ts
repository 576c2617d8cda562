import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { knownSecrets } from '../src/core/redact';
import { ServiceClient } from '../src/service';
import { endpoints } from '../src/service/endpoints';
import { openEnvelope, parseData } from '../src/service/envelope';
import { defaultEnvelopeCodes, defaultSuccessCodes } from '../src/core/service-dialect';
import { readTaskDetail, readTaskOutputs } from '../src/service/tasks';
import { profileTasks } from './task-profile';

/** Replies that are read for one measurement, and measurements of which the median counts. */
const replies = 2_000;
const rounds = 9;
/** Whole tasks of which the share is measured. */
const tasks = 300;
/** Texts of a service are redacted against as many values as a busy worker knows. */
const lasting = 20;
const temporary = 192;

const rules = { codes: defaultEnvelopeCodes, successCodes: defaultSuccessCodes };
const text = z.string().optional();
/** The same fields, neither bounded nor redacted. */
const plainItem = z.object({
  ...{ object_url: text, output_ext: text, error_type: text, error_msg: text, error_message: text },
  ...{ cost_time: z.number().optional(), audit_status: z.number().nullable() },
});
const plainOutputs = z.object({ request_id: text, requestId: text, status: z.string(), outputs: z.array(plainItem) });
const plainDetail = z.object({
  ...{ requestId: text, request_id: text, type: text, status: z.string(), error_message: text, error_msg: text },
  ...{ created_at: text, updated_at: text, executed_at: text, running_at: text, ended_at: text, expired_at: text },
  ...{ group_id: z.number().optional(), inference_cost_time: z.number().optional() },
  cost_times: z.record(z.string(), z.number()),
  queue_info: z.object({ queue_count: z.number() }).optional(),
});

const detail = {
  ...{ type: 'API', status: 'Running', group_id: 7, cost_times: {}, queue_info: { queue_count: 3 } },
  ...{ created_at: '2026-03-01 12:00:00', updated_at: '2026-03-01 12:00:00', expired_at: '2026-03-08 12:00:00' },
};
const costTimes = Object.fromEntries(
  ['inference', 'running', 'total', 'real_cpu', 'real_gpu', 'real_total'].map((name) => [`${name}_cost_time`, 1_234]),
);
const item = {
  object_url: 'https://storage.example/results/2026/03/01/0123456789abcdef.png?X-Amz-Signature=0123456789abcdef',
  ...{ output_ext: '.png', cost_time: 1_234, audit_status: 2, error_type: 'NOT_ERROR' },
};
const cases: [string, 'detail' | 'outputs', object][] = [
  ['detail, running', 'detail', detail],
  [
    'detail, failed',
    'detail',
    { ...detail, status: 'Failed', cost_times: costTimes, error_message: 'node 3: no memory '.repeat(20) },
  ],
  ['outputs, 4 items', 'outputs', { request_id: 'r-1', status: 'Success', outputs: Array(4).fill(item) }],
  ['outputs, 200 items', 'outputs', { request_id: 'r-1', status: 'Success', outputs: Array(200).fill(item) }],
];

/** Microseconds for one reply: the median of some rounds. */
function medianMicroseconds(times: number, read: () => unknown): number {
  const tookMs = Array.from({ length: rounds }, () => {
    const startedAtMs = performance.now();
    for (let count = 0; count < times; count += 1) read();
    return performance.now() - startedAtMs;
  });
  return ((tookMs.sort((one, other) => one - other)[Math.floor(rounds / 2)] ?? 0) * 1_000) / times;
}

/** Microseconds for one request over loopback, read by the client: what a query costs a worker at the least. */
async function exchangeMicroseconds(body: string, call: 'getTask' | 'getOutputs'): Promise<number> {
  const server = createServer((_request, response) => response.end(body));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const client = new ServiceClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: 'key-of-the-benchmark' });
  for (let count = 0; count < 200; count += 1) await client[call]('r-1');
  const startedAtMs = performance.now();
  for (let count = 0; count < replies; count += 1) await client[call]('r-1');
  const tookMs = performance.now() - startedAtMs;
  await client.close();
  server.closeAllConnections();
  server.close();
  return (tookMs * 1_000) / replies;
}

async function main(): Promise<void> {
  for (let count = 0; count < lasting; count += 1) knownSecrets.add(`lasting-secret-number-${count}`);
  for (let count = 0; count < temporary; count += 1) knownSecrets.addTemporary(`temporary-credential-${count}`);
  const rows = [];
  for (const [name, endpoint, data] of cases) {
    const body = JSON.stringify({ code: 20000, message: 'Ok', status: true, data });
    const answer = { endpoint: endpoints[endpoint], reply: { httpStatus: 200, text: body }, refusesKey: false };
    const read: (data: unknown) => unknown = endpoint === 'detail' ? readTaskDetail : readTaskOutputs;
    const plain: z.ZodType = endpoint === 'detail' ? plainDetail : plainOutputs;
    const times = name.includes('200') ? replies / 20 : replies;
    const withUs = medianMicroseconds(times, () => parseData(read, openEnvelope(answer, rules), answer));
    const withoutUs = medianMicroseconds(times, () =>
      parseData((json) => plain.parse(json), openEnvelope(answer, rules), answer),
    );
    const exchangeUs = await exchangeMicroseconds(body, endpoint === 'detail' ? 'getTask' : 'getOutputs');
    rows.push({
      reply: name,
      bytes: body.length,
      'plain µs': withoutUs.toFixed(1),
      'bounded and redacted µs': withUs.toFixed(1),
      ratio: (withUs / withoutUs).toFixed(2),
      'whole request µs': exchangeUs.toFixed(0),
      'share of it': `${(((withUs - withoutUs) / exchangeUs) * 100).toFixed(1)} %`,
    });
  }
  console.table(rows);
  const shares = Object.entries(await profileTasks(tasks));
  console.table(
    shares.map(([part, share]) => ({
      [`of a worker’s time for ${tasks} tasks`]: part,
      share: `${share.toFixed(1)} %`,
    })),
  );
}

void main();
