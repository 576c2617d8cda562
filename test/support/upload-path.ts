import { open } from 'node:fs/promises';
import { loopbackRule } from './loopback-rule';
import type { Measure } from '../../src/storage/hash';
import { uploadInput, type UploadInput } from '../../src/storage/upload';
import type { UploadToken } from '../../src/storage/upload-client';

/** What no error or log may show. */
export const tokenSecrets = { accessKeyId: 'AKIDSECRET', accessKeySecret: 'SK-SECRET', securityToken: 'ST-SECRET' };

/** A token for a storage at this endpoint. */
export function tokenFor(endpoint: string, change: Partial<UploadToken> = {}): UploadToken {
  return {
    objectKey: 'inputs/photo.jpg',
    ...tokenSecrets,
    endpoint,
    bucket: 'my-bucket',
    region: 'oss-cn-x',
    ...change,
  };
}

/** An upload of the file at this path, which is open for as long as it takes; the service is on this machine. */
export type PathUpload = Omit<UploadInput, 'file' | 'rule'> &
  Partial<Pick<UploadInput, 'rule' | 'file'>> & { readonly path: string };

/** Opens a file, uploads it, and closes it. */
export async function uploadPath({ path, ...input }: PathUpload): Promise<Measure> {
  const file = await open(path);
  try {
    return await uploadInput({ rule: loopbackRule, file, ...input });
  } finally {
    await file.close();
  }
}
