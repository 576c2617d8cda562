import { createHash } from 'node:crypto';
import type { PreparedRow } from './prepared-row';

/**
 * What tells one set of rows from another: SHA-256 over every row's key and digest, in their order, and where pages end,
 * for a batch's record stands by page.
 */
export class RowsDigest {
  private readonly hash = createHash('sha256');

  add({ key, digest }: Pick<PreparedRow, 'key' | 'digest'>): void {
    this.hash.update(`${key} ${digest}\n`);
  }

  endPage(): void {
    this.hash.update('\n');
  }

  /** In hex. Can be asked once, at the end. */
  hex(): string {
    return this.hash.digest('hex');
  }
}
