import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { lookup } from 'mime-types';
import { z } from 'zod';
import { pageState } from '../page/page-state';
import { Refusal } from '../refusal';
import type { ServiceParts } from '../service-parts';
import { parseRequest } from './parse-request';

const PAGE_FOLDER = join(__dirname, '..', 'page');
const FILES = { '/': 'index.html', '/page/page.js': 'page.js', '/page/page.css': 'page.css' } as const;
const picturePath = z.object({ requestId: z.string(), number: z.coerce.number().int().min(1) });

/** The page at `/` for a person: apps, queue, tasks and pictures, and no secret. */
export function servePage(app: FastifyInstance, parts: ServiceParts): void {
  if (!parts.config.page) return;

  for (const [path, file] of Object.entries(FILES)) {
    app.get(path, async (_request, reply) => {
      reply
        .type(lookup(file) || 'text/plain')
        .header('Content-Security-Policy', "default-src 'self'; img-src 'self' data:");
      return readFile(join(PAGE_FOLDER, file));
    });
  }

  app.get('/page/state', () => pageState(parts));

  app.get('/page/pictures/:requestId/:number', async (request, reply) => {
    const { requestId, number } = parseRequest(picturePath, request.params);
    const output = parts.tasks.find(requestId)?.outputs[number - 1];
    if (output === undefined) throw new Refusal('routeNotFound', 'there is no such picture');
    // A result is whatever somebody uploaded: it must be no page of this origin, and no script on one.
    reply
      .type(pictureType(output.ext))
      .header('Content-Security-Policy', "default-src 'none'; sandbox")
      .header('X-Content-Type-Options', 'nosniff')
      .header('Cache-Control', 'max-age=3600');
    return parts.store.open(output.objectKey);
  });
}

function pictureType(extension: string): string {
  const type = lookup(extension) || '';
  return /^(?:image|video|audio)\//.test(type) ? type : 'application/octet-stream';
}
