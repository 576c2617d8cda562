import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '../../support/temporary-folder';

const sizeBytes = 300 * 1024 * 1024;

describe('the memory of an upload', () => {
  it('does not grow with the file', async () => {
    const folder = temporaryFolder();
    let receivedBytes = 0;
    const sink = createServer((request, response) => {
      receivedBytes = 0;
      request.on('data', (chunk: Buffer) => (receivedBytes += chunk.length));
      request.on('end', () => response.writeHead(200).end());
    });
    await new Promise<void>((resolve) => sink.listen(0, '127.0.0.1', resolve));
    const { port } = sink.address() as AddressInfo;
    const program = join(__dirname, '../../support/measure-upload.ts');
    const { stdout } = await promisify(execFile)(process.execPath, [
      ...['--import', 'tsx', program],
      ...[String(port), join(folder.path, 'large.bin'), String(sizeBytes)],
    ]);
    await new Promise((resolve) => sink.close(resolve));
    folder.remove();

    const { uploaded, growthBytes } = JSON.parse(stdout) as { uploaded: object; growthBytes: number };
    expect(uploaded).toMatchObject({ bytes: sizeBytes });
    expect(receivedBytes).toBe(sizeBytes);
    // A third of the file: generous for the buffers of a stream, far too little for the file.
    expect(growthBytes).toBeLessThan(100 * 1024 * 1024);
  });
});
