import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { answerUpload } from '../../support/answer-upload';
import { temporaryFolder } from '../../support/temporary-folder';

const sizeBytes = 300 * 1024 * 1024;

describe('the memory of an upload', () => {
  it.each([
    ['in one PUT', sizeBytes],
    ['in parts', sizeBytes / 10],
  ])('%s does not grow with the file', async (_how, aboveBytes) => {
    const folder = temporaryFolder();
    let receivedBytes = 0;
    const sink = createServer((request, response) => {
      request.on('data', (chunk: Buffer) => (receivedBytes += chunk.length));
      request.on('end', () => {
        answerUpload(request, response);
      });
    });
    await new Promise<void>((resolve) => sink.listen(0, '127.0.0.1', resolve));
    const { port } = sink.address() as AddressInfo;
    const program = join(__dirname, '../../support/measure-upload.ts');
    const { stdout } = await promisify(execFile)(process.execPath, [
      ...['--import', 'tsx', program],
      ...[String(port), join(folder.path, 'large.bin'), String(sizeBytes), String(aboveBytes)],
    ]);
    await new Promise((resolve) => sink.close(resolve));
    folder.remove();

    const { uploaded, growthBytes } = JSON.parse(stdout) as { uploaded: object; growthBytes: number };
    expect(uploaded).toMatchObject({ bytes: sizeBytes });
    expect(receivedBytes).toBeGreaterThan(sizeBytes);
    // A third of the file: generous for the buffers of a stream, far too little for the file.
    expect(growthBytes).toBeLessThan(100 * 1024 * 1024);
  });
});
