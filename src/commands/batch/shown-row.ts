import type { InputValue } from '../../contract/task-input';
import { formatBytes, safeText, showValue } from '../../domain/text';
import { isUri } from '../../domain/uri';
import { type PreparedRow, sizeOfInputFile } from '../../rows';
import { fit } from '../format';
import { formatCount } from './batch-line';

/** An input of a row, as it is sent. */
export interface ShownInput {
  readonly key: string;
  readonly kind: 'file' | 'number' | 'text';
  /** Shortened where it is long. */
  readonly value: string;
  /** Of a file of this machine. */
  readonly bytes?: number;
  /** In which form the app gets a file. */
  readonly as?: string;
}

/** A row, as it is sent. */
export interface ShownRow {
  readonly line: number;
  readonly key: string;
  readonly webAppId: number;
  readonly inputs: readonly ShownInput[];
  /** So many inputs are not shown. */
  readonly moreInputs: number;
}

const maxShownInputs = 10;
const maxShownLength = 100;

/** What would be sent for a row, for people and for programs. */
export async function shownRow({ line, key, originalKey, input }: PreparedRow): Promise<ShownRow> {
  const inputs = Object.entries(input.inputs);
  return {
    line,
    key: originalKey ?? key,
    webAppId: input.webAppId,
    inputs: await Promise.all(inputs.slice(0, maxShownInputs).map(([name, value]) => shownInput(name, value))),
    moreInputs: Math.max(0, inputs.length - maxShownInputs),
  };
}

async function shownInput(key: string, value: InputValue): Promise<ShownInput> {
  if (typeof value === 'number') return { key, kind: 'number', value: String(value) };
  if (typeof value === 'string') return { key, kind: 'text', value: fit(safeText(value), maxShownLength) };
  const { file, as = 'url' } = value;
  const bytes = isUri(file) ? undefined : await sizeOfInputFile(file, '');
  return { key, kind: 'file', value: safeText(file), ...(typeof bytes === 'number' && { bytes }), as };
}

/** The same in lines; the first says which row it is. */
export function shownRowLines({ line, key, webAppId, inputs, moreInputs }: ShownRow): string[] {
  return [
    `line ${line}, key ${showValue(key)}, app ${webAppId}`,
    ...inputs.map(inputLine),
    ...(moreInputs > 0 ? [`and ${formatCount(moreInputs)} more`] : []),
  ];
}

function inputLine({ key, kind, value, bytes, as = 'url' }: ShownInput): string {
  const shown = kind === 'text' ? showValue(value) : value;
  const size = bytes === undefined ? '' : ` (${formatBytes(bytes)})`;
  const form = as === 'url' ? '' : `, given as its ${as}`;
  return `${safeText(key)}  ${kind} ${shown}${size}${form}`;
}
