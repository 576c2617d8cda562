import type { IncomingMessage } from 'node:http';

/**
 * A request's body; `undefined` when it is larger than that. What is too much is let pass unread, so that the sender
 * hears the answer. Rejects when the sender gives up.
 */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  return await new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request
      .on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes <= maxBytes) {
          chunks.push(chunk);
          return;
        }
        chunks.length = 0;
        resolve(undefined);
      })
      .once('end', () => {
        resolve(Buffer.concat(chunks));
      })
      .once('error', reject);
  });
}
