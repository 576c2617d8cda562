import type { ChangedInput } from '../../contract/batch/batch-activities';
import type { RowRecord } from '../../contract/batch/batch-rows';
import type { InputValue } from '../../contract/task-input';
import { defaultAccount } from '../../money/batch-budget';
import { showValue } from '../../core/text';
import { type Manifest, parseManifest } from '../../archive/manifest';
import type { PreparedRow, RowTable } from '../../rows';
import { type Archive, readSmall } from '../../storage/archive/archive';
import { ArchiveError } from '../../storage/errors';

const maxManifestBytes = 1024 * 1024;
const maxInputs = 3;
const maxKeyLength = 120;

type Inputs = Readonly<Record<string, InputValue>>;

/** How a row differs from its task, by the manifest; undefined where that does not tell. */
export async function findChangedInputs(
  archive: Pick<Archive, 'location' | 'read' | 'size'>,
  { input }: PreparedRow,
  { manifest: path, requestId }: RowRecord,
  { inputColumns = {} }: Partial<Pick<RowTable, 'inputColumns'>> = {},
): Promise<readonly ChangedInput[] | undefined> {
  if (path?.startsWith(`${archive.location}/`) !== true) return undefined;
  const text = await readManifest(archive, path.slice(archive.location.length + 1));
  const manifest = parseManifest(text);
  if (manifest?.requestId !== requestId) return undefined;
  const { webAppId, account } = manifest;
  const changed = [
    ...(webAppId === null ? [] : changedValue('webAppId', webAppId, input.webAppId)),
    ...changedValue('account', account, input.account ?? defaultAccount),
    ...changedInputs(manifest, input.inputs),
  ];
  if (changed.length === 0) return undefined;
  return changed.slice(0, maxInputs).map(({ key, ...values }) => {
    const columns = Object.hasOwn(inputColumns, key) ? inputColumns[key] : undefined;
    const named = columns === undefined || columns.length === 0 ? {} : { columns: columns.slice(0, maxInputs) };
    return { key: key.slice(0, maxKeyLength), ...named, ...values };
  });
}

/** An unreadable manifest, such as in cold storage, holds up no batch. */
async function readManifest(archive: Pick<Archive, 'read' | 'size'>, name: string): Promise<string | undefined> {
  try {
    return await readSmall(archive, name, maxManifestBytes);
  } catch (error) {
    if (error instanceof ArchiveError) return undefined;
    throw error;
  }
}

function changedInputs({ values, inputs: files }: Manifest, inputs: Inputs): ChangedInput[] {
  const fileBefore = new Map(
    files.flatMap(({ keys, ...file }) => keys.map((key) => [key, { keys, ...file }] as const)),
  );
  const keys = new Set([...Object.keys(inputs), ...Object.keys(values), ...fileBefore.keys()]);
  return [...keys].flatMap((key) => {
    const file = fileBefore.get(key);
    // For inputs with one content the manifest names one file.
    if (file?.keys.some((other) => fileOf(inputs[other]) === file.file) === true) {
      return inputs[key] === undefined ? changedValue(key, file.file, undefined) : [];
    }
    const value = Object.hasOwn(inputs, key) ? inputs[key] : undefined;
    return changedValue(key, file?.file ?? values[key], fileOf(value) ?? value);
  });
}

function fileOf(value: InputValue | undefined): string | undefined {
  return typeof value === 'object' ? value.file : undefined;
}

function changedValue(key: string, before: unknown, now: unknown): ChangedInput[] {
  return before === now ? [] : [{ key, before: shown(before), now: shown(now) }];
}

function shown(value: unknown): string {
  const staged = typeof value === 'string' ? /^s3:\/\/.+\/([0-9a-f]{64})\/([^/]+)$/.exec(value) : null;
  return staged === null ? showValue(value) : `${showValue(staged[2])} (${staged[1]?.slice(0, 8)})`;
}
