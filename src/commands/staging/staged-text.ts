import type { StagedCount } from '../../storage/staging';
import { formatBytes } from '../../domain/text';

/** What was staged, for people. */
export function stagedText(location: string, { sent, sentBytes, found }: StagedCount): string {
  const before = found === 0 ? '' : `, ${found} there before`;
  return `Staged at ${location}: ${sent} ${sent === 1 ? 'file' : 'files'} sent, ${formatBytes(sentBytes)}${before}\n`;
}
