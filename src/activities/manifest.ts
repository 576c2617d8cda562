import type { ArchiveOutputsInput } from '../contract/activities';
import { redactUrl } from '../domain/redact-url';
import type { OutputItem } from '../service';
import type { ArchivedFile } from '../storage/archive';

/** The manifest's form; a change that takes something away raises it. */
const manifestVersion = 1;

/** An output of the task and, once it is archived, the file. */
export interface KeptOutput {
  readonly item: OutputItem;
  readonly name: string;
  readonly file: ArchivedFile | null;
}

/** What stands beside the outputs for whoever opens the folder years later: where they came from and what they are. */
export function toManifest(
  workflowId: string | null,
  input: ArchiveOutputsInput,
  kept: readonly KeptOutput[],
): Record<string, unknown> {
  const { requestId, status, account, webAppId, inputs, values, timestamps, costTimes, errorMessage } = input;
  return {
    manifestVersion,
    requestId,
    status,
    workflowId,
    account,
    webAppId,
    archivedAt: new Date().toISOString(),
    inputs,
    values,
    timestamps,
    costTimes,
    errorMessage,
    outputs: kept.map(({ item, name, file }) => ({
      file: file === null ? null : (name.split('/').at(-1) ?? name),
      bytes: file?.bytes ?? null,
      sha256: file?.sha256 ?? null,
      ext: item.ext,
      costTimeMs: item.costTimeMs ?? null,
      auditStatus: item.auditStatus,
      // Its two tables differ (specification, section 2.4), so the number alone does not say what it means.
      auditSource: 'outputs',
      errorType: item.errorType,
      errorMessage: item.errorMessage ?? null,
      url: item.objectUrl === undefined ? null : redactUrl(item.objectUrl),
    })),
  };
}
