import { open } from 'node:fs/promises';
import { uploadInput, type UploadedInput, type UploadInput } from '../../src/storage/upload';

/** An upload of the file at this path, which is open for as long as it takes. */
export type PathUpload = Omit<UploadInput, 'file'> & { readonly path: string };

/** Opens a file, uploads it, and closes it. */
export async function uploadPath({ path, ...input }: PathUpload): Promise<UploadedInput> {
  const file = await open(path);
  try {
    return await uploadInput({ ...input, file });
  } finally {
    await file.close();
  }
}
