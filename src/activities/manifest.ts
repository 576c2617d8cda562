import { z } from 'zod';
import type { ArchiveOutputsInput } from '../contract/activities';
import { redactUrl } from '../domain/redact-url';
import type { OutputItem } from '../service';
import type { Archive, ArchivedFile, Expectation } from '../storage/archive';

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
      file: file === null ? null : fileName(name),
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

/** The name of a file without its folders, as a manifest has it. */
export function fileName(name: string): string {
  return name.split('/').at(-1) ?? name;
}

const formerFile = z.object({ file: z.string(), bytes: z.number(), sha256: z.string() });
const formerSchema = z.object({
  requestId: z.string(),
  outputs: z
    .array(z.unknown())
    .transform((outputs) => outputs.flatMap((output) => formerFile.safeParse(output).data ?? [])),
});

/** What each file was, by its name, according to a manifest. */
export type FormerFiles = ReadonlyMap<string, Expectation>;

/**
 * What an earlier manifest of this name and this task says of the files beside it; nothing where there is none that can
 * be read.
 */
export async function formerFiles(archive: Archive, name: string, requestId: string): Promise<FormerFiles> {
  const { data } = formerSchema.safeParse(jsonOf(await archive.read(name)));
  return new Map(data?.requestId === requestId ? data.outputs.map(({ file, ...was }) => [file, was]) : []);
}

function jsonOf(content: Buffer | undefined): unknown {
  try {
    return JSON.parse(content?.toString('utf8') ?? '');
  } catch {
    return undefined;
  }
}
