/* A shop that sells swatches: README.md shows it at work. Outside of this checkout, import `@longhaul/client`. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { Longhaul, TaskFailedError, UnknownTaskError, unwrapWebhook, WebhookInvalidError } from '../../src';
import { openArchive } from '../../src/files';

const connecting = Longhaul.connect({ archive: openArchive(), taskQueue: process.env['TASK_QUEUE'] });
const secret = process.env['WEBHOOK_SECRET'] ?? '';
const stopping = new AbortController();
/** A real shop keeps the ids of events in its database. */
const ended = new Map<string, string>();

type Answer = (longhaul: Longhaul, response: ServerResponse, id: string, request: IncomingMessage) => Promise<void>;

const routes: Readonly<Record<string, Answer>> = {
  'PUT /orders': async (longhaul, response, id) => {
    const input = { webAppId: 5, inputs: {}, webhook: 'shop' };
    const { origin } = await longhaul.start({ ...input, key: `order-${id}` }, { tags: ['shop'] });
    json(response, origin === 'started' ? 201 : 200, { id });
  },
  'GET /orders': async (longhaul, response, id) => {
    if (id === '') {
      const { tasks, next } = await longhaul.listPage({ tags: ['shop'], limit: 20 });
      json(response, 200, { orders: tasks.map(({ key, status }) => ({ key, status })), next });
      return;
    }
    const { key, status, problem } = await longhaul.task(`order-${id}`).status({ signal: stopping.signal });
    json(response, 200, { key, status, problem, event: ended.get(`order-${id}`) ?? null });
  },
  'GET /pictures': async (longhaul, response, id) => {
    const [picture] = await longhaul.task(`order-${id}`).outputs({ signal: stopping.signal });
    if (picture === undefined) {
      json(response, 404, { error: 'It was stopped.' });
      return;
    }
    const content = await picture.read({ signal: stopping.signal });
    response.writeHead(200, { 'content-type': picture.contentType, 'content-length': picture.bytes });
    await pipeline(content, response);
  },
  'DELETE /orders': async (longhaul, response, id) => {
    json(response, 202, { asked: await longhaul.task(`order-${id}`).stop() });
  },
  'POST /hooks': async (_, response, _id, request) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += String(chunk);
    const event = unwrapWebhook(body, request.headers, secret);
    if ('key' in event.data) ended.set(event.data.key, event.type);
    response.writeHead(204).end();
  },
};

function json(response: ServerResponse, status: number, answer: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(answer)}\n`);
}

function statusOf(error: unknown): number {
  if (error instanceof WebhookInvalidError) return 401;
  if (error instanceof TaskFailedError) return 410;
  return error instanceof UnknownTaskError ? 404 : 503;
}

const server = createServer((request, response) => {
  const [, collection = '', id = ''] = (request.url ?? '').split('/');
  const route = routes[`${request.method ?? ''} /${collection}`];
  const answer = async (): Promise<void> => {
    if (route === undefined) json(response, 404, {});
    else await route(await connecting, response, id, request);
  };
  answer().catch((error: unknown) => {
    if (response.headersSent) response.destroy();
    else json(response, statusOf(error), { error: error instanceof Error ? error.message : 'unknown' });
  });
});
server.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1');
process.once('SIGTERM', () => {
  stopping.abort();
  server.close(() => void connecting.then((longhaul) => longhaul.close()));
});
