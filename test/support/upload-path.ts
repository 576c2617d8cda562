import { open } from 'node:fs/promises';
import { loopbackRule } from './loopback-rule';
import type { Measure } from '../../src/storage/hash';
import { uploadInput, type UploadInput } from '../../src/storage/upload';

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
