import { lookup } from 'mime-types';

/** The media type of a file name's extension; `application/octet-stream` when it says nothing. */
export function contentTypeOf(name: string): string {
  return lookup(name) || 'application/octet-stream';
}
