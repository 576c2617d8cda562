import type { Socket } from 'node:net';

export interface RogueRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

const HEAD_END = '\r\n\r\n';

/**
 * Reads the requests of one connection, one after the other: HTTP/1.1 as clients send it, with a length or in chunks.
 * Only what answers may break the rules, so it works on the bare connection; the next request is read when the former
 * one has been answered.
 */
export function readRequests(socket: Socket, answer: (request: RogueRequest) => Promise<void>): void {
  let received = Buffer.alloc(0);
  let isAnswering = false;
  let hasContinued = false;
  const readNext = (): void => {
    if (isAnswering) return;
    const headEnd = received.indexOf(HEAD_END);
    if (headEnd < 0) return;
    const [line = '', ...lines] = received.subarray(0, headEnd).toString('latin1').split('\r\n');
    const headers = Object.fromEntries(lines.map(headerOf));
    if (headers['expect'] !== undefined && !hasContinued) {
      hasContinued = true;
      socket.write('HTTP/1.1 100 Continue\r\n\r\n');
    }
    const body = bodyOf(received.subarray(headEnd + HEAD_END.length), headers);
    if (body === undefined) return;
    received = received.subarray(headEnd + HEAD_END.length + body.read);
    hasContinued = false;
    isAnswering = true;
    const [method = '', target = ''] = line.split(' ');
    void answer({ method, target, headers, body: body.bytes })
      .catch(() => socket.destroy())
      .finally(() => {
        isAnswering = false;
        readNext();
      });
  };
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, Buffer.from(chunk)]);
    readNext();
  });
}

function headerOf(line: string): [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}

/** The body and how many bytes it took; undefined while a part of it is missing. */
function bodyOf(
  rest: Buffer,
  headers: Readonly<Record<string, string>>,
): { readonly bytes: Buffer; readonly read: number } | undefined {
  if (headers['transfer-encoding'] === undefined) {
    const length = Number(headers['content-length'] ?? 0);
    return rest.length < length ? undefined : { bytes: rest.subarray(0, length), read: length };
  }
  const chunks: Buffer[] = [];
  for (let at = 0; ;) {
    const lineEnd = rest.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(rest.subarray(at, lineEnd).toString('latin1'), 16);
    const end = lineEnd + 2 + size;
    if (rest.length < end + 2) return undefined;
    if (size === 0) return { bytes: Buffer.concat(chunks), read: end + 2 };
    chunks.push(rest.subarray(lineEnd + 2, end));
    at = end + 2;
  }
}
