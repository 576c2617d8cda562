import type { IncomingMessage, ServerResponse } from 'node:http';

/** Answers a request of an upload, whole or in parts, with what an S3 server says when all is well. */
export function answerUpload(
  { method, url = '' }: Pick<IncomingMessage, 'method' | 'url'>,
  response: ServerResponse,
): void {
  const { searchParams } = new URL(url, 'http://bucket');
  const result = searchParams.has('uploads')
    ? '<InitiateMultipartUploadResult><UploadId>upload-1</UploadId></InitiateMultipartUploadResult>'
    : '<CompleteMultipartUploadResult><ETag>"whole"</ETag></CompleteMultipartUploadResult>';
  if (method === 'POST') response.writeHead(200, { 'content-type': 'application/xml' }).end(result);
  else if (method === 'DELETE') response.writeHead(204).end();
  else response.writeHead(200, { etag: `"part-${searchParams.get('partNumber') ?? 'none'}"` }).end();
}
