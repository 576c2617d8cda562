import type { ArchiveOutputsInput } from '../contract/activities';
import { manifestName, outputName } from '../domain/archive-name';
import {
  manifestNameBy,
  outputNameBy,
  parseOutputNameTemplate,
  type OutputNameTemplate,
  type OutputNameValues,
} from '../domain/output-name-template';

/** The archive's names of a task's files. */
export interface OutputNames {
  /** Whether no other task has these names: what is there under one is then this task's. */
  readonly areItsOwn: boolean;
  readonly manifest: string;
  readonly output: (index: number, ext: string) => string;
}

/** By the batch's template, or else by request id. Throws `RangeError` for a template that is none. */
export function outputNamesOf({ requestId, folder, naming }: ArchiveOutputsInput): OutputNames {
  const inFolder = (name: string): string => (folder === '' ? name : `${folder}/${name}`);
  if (naming === undefined) {
    return {
      areItsOwn: true,
      manifest: inFolder(manifestName(requestId)),
      output: (index, ext) => inFolder(outputName(requestId, index, ext)),
    };
  }
  const template = checked(naming.template);
  const values: OutputNameValues = { batch: naming.batch, key: naming.key, requestId, columns: naming.columns };
  return {
    // A row that is run again has another request id, and with such a template the same names.
    areItsOwn: template.text.includes('{requestId}'),
    manifest: inFolder(manifestNameBy(template, values)),
    output: (index, ext) => inFolder(outputNameBy(template, values, index, ext)),
  };
}

function checked(text: string): OutputNameTemplate {
  const { template, problems = [] } = parseOutputNameTemplate(text);
  if (template === undefined) throw new RangeError(problems.join('\n'));
  return template;
}
