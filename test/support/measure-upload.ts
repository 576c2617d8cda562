import { truncateSync, writeFileSync } from 'node:fs';
import { defaultPartPlan } from '../../src/storage/s3/put-object';
import { uploadPath } from './upload-path';

/*
 * A program of its own, so that the memory it measures is its own: uploads a small file, then a large one, in parts if
 * it is above the given size, to the server on the given port, and prints how much its memory grew during the second.
 */
async function measure(port: string, path: string, sizeBytes: number, aboveBytes: number): Promise<void> {
  const send = (bytes: number): Promise<unknown> => {
    truncateSync(path, bytes);
    return uploadPath({
      token: {
        objectKey: 'inputs/1/large.bin',
        accessKeyId: 'id',
        accessKeySecret: 'secret',
        securityToken: 'token',
        endpoint: `http://oss-cn-x.localhost:${port}`,
        bucket: 'bucket',
        region: 'oss-cn-x',
      },
      path,
      sizeBytes: bytes,
      contentType: 'application/octet-stream',
      parts: { ...defaultPartPlan, aboveBytes },
    });
  };
  writeFileSync(path, '');
  await send(1024 * 1024);
  const idleBytes = process.memoryUsage.rss();
  let peakBytes = idleBytes;
  const timer = setInterval(() => {
    peakBytes = Math.max(peakBytes, process.memoryUsage.rss());
  }, 10);
  const uploaded = await send(sizeBytes);
  clearInterval(timer);
  process.stdout.write(JSON.stringify({ uploaded, growthBytes: peakBytes - idleBytes }));
}

const [, , port = '', path = '', sizeBytes = '', aboveBytes = ''] = process.argv;
void measure(port, path, Number(sizeBytes), Number(aboveBytes));
