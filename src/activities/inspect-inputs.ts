import { cancellationSignal } from '@temporalio/activity';
import type { InspectInputsInput, InspectInputsResult } from '../contract/activities';
import { hashOpenFile } from '../storage/hash';
import { openSource } from '../storage/input/open-source';
import type { ActivityDependencies } from './dependencies';
import { withHeartbeat } from './heartbeat';

/** Reads files and hashes them. Repeating it changes nothing. */
export async function inspectInputs(
  parts: ActivityDependencies,
  { files }: InspectInputsInput,
): Promise<InspectInputsResult> {
  const signal = cancellationSignal();
  const inspected: InspectInputsResult['files'][number][] = [];
  let current = '';
  await withHeartbeat(
    () => ({ transfer: 'upload', name: current, bytes: 0, totalBytes: null }),
    async () => {
      for (const file of files) {
        current = file;
        const source = await openSource(file, parts.sources, signal);
        try {
          inspected.push({ file, ...(await hashOpenFile(source.file, source.sizeBytes, signal)) });
        } finally {
          await source.release();
        }
      }
    },
  );
  return { files: inspected };
}
