import { folderOfManifests, plainText, safeExtension, shortHash, wholePart } from '../core/archive-name';
import { parseTemplate, type TemplatePiece } from '../core/column-template';
import { cutToUtf8Bytes, foldCase, showValue, utf8Bytes } from '../core/text';
import { ResultsError } from './errors';
import type { ResultLine } from './result-line';

/** The pieces of each part of a path; the extension of a file follows the last one. */
export type ResultNameTemplate = readonly (readonly TemplatePiece[])[];

type NamedRow = Pick<ResultLine, 'key' | 'workflowId' | 'file' | 'cells' | 'outputCount'>;

const ownNames = ['key', 'filename', 'index', 'ext'];
/** Encrypted folders take no longer name. */
const maxPartBytes = 143;
/** A hash, a number and an extension follow. */
const endBytes = 32;
const minValueBytes = 16;
/** Of a row with more, the others are compared only when they are fetched. */
const maxComparedOutputs = 1_000;

/** Reads `{key}` or `{sku} {color}/{index}{ext}`. */
export function parseResultNameTemplate(
  text: string,
):
  | { readonly template: ResultNameTemplate; readonly problem?: never }
  | { readonly template?: never; readonly problem: string } {
  const template = text.split('/').map((part) => [...parseTemplate(part)]);
  const last = template.at(-1)?.at(-1);
  if (last !== undefined && 'placeholder' in last && last.placeholder === 'ext') template.at(-1)?.pop();
  const names = `the names ${JSON.stringify(text)}`;
  if (template.some((part) => part.length === 0)) return { problem: `${names} have an empty part; begin with {key}` };
  if (template.flat().some((piece) => 'text' in piece && piece.isStray)) {
    return { problem: `${names} have a brace that belongs to no {placeholder}; write {{ or }} for a brace` };
  }
  if (template.some((part) => valueBytes(part) < minValueBytes)) {
    return { problem: `${names} are too long; use fewer words and placeholders between two slashes` };
  }
  return { template };
}

/** What each value of a part may take. */
function valueBytes(part: readonly TemplatePiece[]): number {
  const fixed = part.reduce((sum, piece) => sum + ('text' in piece ? utf8Bytes(piece.text) : 0), endBytes);
  const values = part.filter((piece) => 'placeholder' in piece).length;
  return Math.floor((maxPartBytes - fixed) / Math.max(1, values));
}

/** Names for the files of rows in one folder: a row whose files would have another row's names gets a hash. */
export class ResultNames {
  readonly #template: ResultNameTemplate;
  /** By names without extension, case folded; null for those of several rows. */
  readonly #rows = new Map<string, string | null>();
  readonly #taken = new Map<string, string>();

  constructor(template: ResultNameTemplate) {
    this.#template = template;
  }

  add(row: NamedRow): void {
    const { workflowId, outputCount } = row;
    for (let index = 0; index < Math.min(Math.max(1, outputCount), maxComparedOutputs); index += 1) {
      const name = foldCase(this.#name(row, index, '', ''));
      const isOthers = this.#rows.has(name) && this.#rows.get(name) !== workflowId;
      this.#rows.set(name, isOthers ? null : workflowId);
    }
  }

  /** Throws {@link ResultsError} for a column that the row does not have, and a name that another row has taken. */
  of(row: NamedRow, extensions: readonly string[]): { readonly files: readonly string[]; readonly manifest: string } {
    for (const piece of this.#template.flat()) {
      if ('text' in piece || valueOf(row, piece.placeholder) !== undefined) continue;
      const names = [...ownNames, ...row.cells.map(([column]) => column)].join(', ');
      const words = `it has no column ${showValue(piece.placeholder)} for --names, which can have ${names}`;
      throw new ResultsError('missing', words);
    }
    const indices = [...Array(Math.max(1, extensions.length)).keys()];
    const isShared = indices.some((index) => this.#rows.get(foldCase(this.#name(row, index, '', ''))) === null);
    const hash = isShared ? `~${shortHash(row.workflowId).slice(0, 8)}` : '';
    const files = extensions.map((extension, index) => this.#name(row, index, hash, safeExtension(extension)));
    const manifest = `${folderOfManifests}/${this.#name(row, 0, hash, '.json')}`;
    for (const name of [...files, manifest]) {
      const folded = foldCase(name);
      if ((this.#taken.get(folded) ?? row.workflowId) !== row.workflowId) {
        throw new ResultsError('unwritable', `its file ${name} would replace another row's; add {key} to --names`);
      }
      this.#taken.set(folded, row.workflowId);
    }
    return { files, manifest };
  }

  /** `P0001.png`, `P0001-2.png`: counted from 1, in a suffix where the template does not say where. */
  #name(row: NamedRow, index: number, hash: string, extension: string): string {
    const hasIndex = this.#template.flat().some((piece) => 'placeholder' in piece && piece.placeholder === 'index');
    const end = `${hash}${hasIndex || index === 0 ? '' : `-${index + 1}`}${extension}`;
    const parts = this.#template.map((part, position) => {
      const most = valueBytes(part);
      const texts = part.map((piece) => {
        if ('text' in piece) return plainText(piece.text);
        const { placeholder } = piece;
        const text = placeholder === 'index' ? String(index + 1) : (valueOf(row, placeholder, extension) ?? '');
        const value = cutToUtf8Bytes(plainText(text.trim()), most).trim();
        return value === '' && placeholder !== 'ext' ? '_' : value;
      });
      return wholePart(`${texts.join('')}${position === this.#template.length - 1 ? end : ''}`);
    });
    return parts.join('/');
  }
}

function valueOf({ key, file, cells }: NamedRow, placeholder: string, extension = ''): string | undefined {
  if (placeholder === 'key') return key;
  if (placeholder === 'ext' || placeholder === 'index') return extension;
  const [, cell] = cells.find(([column]) => column === placeholder) ?? [];
  return cell === undefined && placeholder === 'filename' ? (file ?? '').replace(/\.[^.]*$/, '') : cell;
}
