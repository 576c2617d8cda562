import { log } from '@temporalio/activity';
import type { ArchiveOutputsInput } from '../contract/activities';
import { fittedName, manifestName, outputName } from '../core/archive-name';
import {
  manifestNameBy,
  outputNameBy,
  type OutputNameValues,
  parseOutputNameTemplate,
} from '../core/output-name-template';

export interface OutputNames {
  /** Whether no other task has these names: what is there under one is then this task's. */
  readonly areItsOwn: boolean;
  readonly manifest: string;
  readonly output: (index: number, ext: string) => string;
}

/** By the batch’s template, else by request id; each fits into the archive. A template that cannot be used is not: the task is paid. */
export function getOutputNames(input: ArchiveOutputsInput, maxNameBytes: number): OutputNames {
  const { requestId } = input;
  const ownNames: OutputNames = {
    areItsOwn: true,
    manifest: manifestName(requestId),
    output: (index, ext) => outputName(requestId, index, ext),
  };
  const { areItsOwn, manifest, output } = getTemplateNames(input) ?? ownNames;
  const fit = (name: string): string => {
    return fittedName(input.folder === '' ? name : `${input.folder}/${name}`, maxNameBytes);
  };
  return { areItsOwn, manifest: fit(manifest), output: (index, ext) => fit(output(index, ext)) };
}

function getTemplateNames({ requestId, naming }: ArchiveOutputsInput): OutputNames | undefined {
  if (naming === undefined) return undefined;
  const { template, problems = [] } = parseOutputNameTemplate(naming.template);
  const missing = template?.columns.filter((column) => !Object.hasOwn(naming.columns, column)) ?? [];
  if (template === undefined || missing.length > 0) {
    log.warn('outputs are named by request id: the template of names cannot be used', {
      requestId,
      problem: problems[0] ?? `the row has no column ${JSON.stringify(missing[0])}`,
    });
    return undefined;
  }
  const values: OutputNameValues = { batch: naming.batch, key: naming.key, requestId, columns: naming.columns };
  return {
    // A row that is run again has another request id, and with such a template the same names.
    areItsOwn: template.text.includes('{requestId}'),
    manifest: manifestNameBy(template, values),
    output: (index, ext) => outputNameBy(template, values, index, ext),
  };
}
