import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { textOfToken, writeJson, type FieldChange, type JsonToken } from './json-text';

export interface HonestReply {
  readonly status: number;
  /** Sent as JSON; or bytes, sent as they are. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** How the end of the body is told. */
export type Framing =
  'length' | 'chunked' | 'close' | 'length too long' | 'length too short' | 'length negative' | 'two lengths' | 'none';

export type Pace =
  | 'at once'
  | 'silence'
  | 'head only'
  | 'half'
  /** One byte every few milliseconds. */
  | 'trickle'
  | 'endless'
  /** The connection is cut before the head, after it, or in the body. */
  | 'cut before head'
  | 'cut after head'
  | 'cut in body'
  /** A thousand interim answers come first. */
  | 'interim flood';

/** What of a reply is other than honest; all of it plain data, so that a failed case can be printed and repeated. */
export interface ReplyChange {
  readonly status?: number;
  /** Further headers, of the same name perhaps. */
  readonly headers?: readonly (readonly [string, string])[];
  /** How many more headers, each of 100 bytes. */
  readonly headerFlood?: number;
  readonly fields?: readonly FieldChange[];
  /** Another body: a token, or bytes in base64. */
  readonly body?: JsonToken | { readonly base64: string };
  /** The body is cut off after so many bytes, and sent as if it were whole. */
  readonly truncateAt?: number;
  /** `true` compresses the body, unasked; a number sends so many MiB of zeros, compressed. */
  readonly gzip?: true | number;
  readonly framing?: Framing;
  readonly pace?: Pace;
}

const TRICKLE_MS = 5;
const MEBIBYTE = 1024 * 1024;

/** Sends a reply over the connection, which stays open for another request only where the reply has an honest end. */
export async function sendReply(socket: Socket, honest: HonestReply, change: ReplyChange = {}): Promise<void> {
  const { framing = 'length', pace = 'at once' } = change;
  if (pace === 'silence') return new Promise((resolve) => socket.once('close', resolve));
  if (pace === 'cut before head') {
    socket.resetAndDestroy();
    return;
  }
  const body = bodyOf(honest, change);
  const head = headOf(honest, change, body.length);
  if (pace === 'interim flood') socket.write('HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'.repeat(1_000));
  socket.write(head, 'latin1');
  const isWhole = await sendBody(socket, framing === 'chunked' ? chunked(body) : body, pace);
  if (isWhole && (framing === 'length' || framing === 'chunked')) return;
  if (framing === 'none' || pace === 'head only' || pace === 'half') {
    await new Promise((resolve) => socket.once('close', resolve));
  } else socket.end();
}

/** Returns whether all of the body was sent. */
async function sendBody(socket: Socket, body: Buffer, pace: Pace): Promise<boolean> {
  switch (pace) {
    case 'at once':
    case 'interim flood':
      socket.write(body);
      return true;
    case 'half':
      socket.write(body.subarray(0, body.length / 2));
      return false;
    case 'cut in body':
      socket.write(body.subarray(0, body.length / 2), () => socket.resetAndDestroy());
      return false;
    case 'cut after head':
      socket.resetAndDestroy();
      return false;
    case 'trickle':
      for (let at = 0; at < body.length && !socket.destroyed; at += 1) {
        socket.write(body.subarray(at, at + 1));
        await delay(TRICKLE_MS);
      }
      return true;
    case 'endless':
      while (!socket.destroyed) {
        if (!socket.write(Buffer.alloc(MEBIBYTE, ' '))) await drained(socket);
      }
      return false;
    case 'head only':
    case 'silence':
    case 'cut before head':
      return false;
  }
}

function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.once('drain', resolve).once('close', resolve);
  });
}

function bodyOf({ body: honest }: HonestReply, { body, fields = [], gzip, truncateAt }: ReplyChange): Buffer {
  if (typeof gzip === 'number') return gzippedZeros(gzip);
  const plain =
    body === undefined
      ? honestBytes(honest, fields)
      : typeof body === 'object' && 'base64' in body
        ? Buffer.from(body.base64, 'base64')
        : Buffer.from(textOfToken(body));
  const sent = truncateAt === undefined ? plain : plain.subarray(0, truncateAt);
  return gzip === true ? gzipSync(sent) : sent;
}

const zeros = new Map<number, Buffer>();

function gzippedZeros(mebibytes: number): Buffer {
  const known = zeros.get(mebibytes) ?? gzipSync(Buffer.alloc(mebibytes * MEBIBYTE), { level: 1 });
  zeros.set(mebibytes, known);
  return known;
}

function honestBytes(honest: unknown, fields: readonly FieldChange[]): Buffer {
  return honest instanceof Uint8Array ? Buffer.from(honest) : Buffer.from(writeJson(honest, fields));
}

function headOf(honest: HonestReply, change: ReplyChange, length: number): string {
  const { status = honest.status, headers = [], headerFlood = 0, framing = 'length', gzip } = change;
  const type = honest.body instanceof Uint8Array ? 'application/octet-stream' : 'application/json';
  const lines = [
    `HTTP/1.1 ${status} Reply`,
    ...Object.entries({ 'Content-Type': type, ...honest.headers }).map(([name, value]) => `${name}: ${value}`),
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...Array.from({ length: headerFlood }, (_, index) => `X-Flood-${index}: ${'x'.repeat(90)}`),
    ...(gzip === undefined ? [] : ['Content-Encoding: gzip']),
    ...framingLines(framing, length),
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}

function framingLines(framing: Framing, length: number): string[] {
  switch (framing) {
    case 'length':
      return [`Content-Length: ${length}`];
    case 'chunked':
      return ['Transfer-Encoding: chunked'];
    case 'length too long':
      return [`Content-Length: ${length + 1_000}`];
    case 'length too short':
      return [`Content-Length: ${Math.floor(length / 2)}`];
    case 'length negative':
      return ['Content-Length: -1'];
    case 'two lengths':
      return [`Content-Length: ${length}`, `Content-Length: ${length + 1}`];
    case 'close':
      return ['Connection: close'];
    case 'none':
      return [];
  }
}

function chunked(body: Buffer): Buffer {
  if (body.length === 0) return Buffer.from('0\r\n\r\n');
  return Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')]);
}
