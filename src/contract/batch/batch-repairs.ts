import { formatCountOf, shellWord } from '../../core/text';
import {
  failureTypes,
  type FailureType,
  mayExistUnfollowed,
  mayNeedOtherInput,
  refusedInputs,
  unpaidRefusals,
} from '../failure-types';

export interface Repair {
  readonly does: string;
  readonly command: string;
}

type RepairName = 'fetch' | 'ask' | 'retry' | 'start' | 'correct' | 'retryUnpaid' | 'correctPaid' | 'changed';

/** What a person is told of rows that are the outputs of another batch; `picks` tells whether they were picked. */
export function formatOutputSource(batchId: string, rows?: number, picks?: boolean): string {
  if (rows === undefined) return `batch ${batchId}`;
  return `batch ${batchId}, ${formatCountOf(rows, picks === true ? 'picked output' : 'output')}`;
}

const outputSource = /^batch ([A-Za-z0-9._-]{1,80})(?:, \d[\d,]* (picked )?outputs?)?$/;

/** What `longhaul batch run` had its rows from. */
function sourceArguments(source: string | null): string {
  if (source === null) return 'FILE';
  const [, batchId, picked] = outputSource.exec(source) ?? [];
  if (batchId === undefined) return shellWord(source.replace(/^-/, './-'));
  return `--from ${batchId}${picked === undefined ? '' : ' --picks FILE'}`;
}

/** What may be done about rows of a batch; `run` runs the file again, and `withOptions` says what it lacks. */
export type Repairs = Readonly<Record<RepairName, Repair>> & { readonly run: string; readonly withOptions: string };

/** An id that begins with a hyphen is no option. */
export function batchCommand(verb: string, id: string, options = ''): string {
  const isLikeOption = id.startsWith('-');
  return `longhaul batch ${verb}${isLikeOption ? `${options} -- ` : ' '}${shellWord(id)}${isLikeOption ? '' : options}`;
}

/** Names the rows that wait for a decision. */
export function listWaiting(id: string): string {
  return `longhaul list --batch ${shellWord(id)} --needs-person`;
}

/** @param files - those of the command on record, none for outputs of a batch; null: no command is on record */
export function repairCommands(
  id: string,
  { source, files }: { readonly source: string | null; readonly files: readonly string[] | null },
): Repairs {
  const isKept = files !== null;
  const words = isKept ? files.map(shellWord) : [sourceArguments(source)];
  // A command line refuses OPTIONS: copied without those of the first run, it could start rows that lack an input.
  const run = ['longhaul batch run', ...words, '--id', shellWord(id), ...(isKept ? [] : ['OPTIONS'])].join(' ');
  const withOptions = isKept
    ? ''
    : ' OPTIONS stands for the options of the first run, such as --app, -i and --template, but without --retry-failed, which pays failed rows anew';
  return {
    run,
    withOptions,
    fetch: {
      does: 'Fetch the files, named by the keys of their rows',
      command: batchCommand('results', id, ` -o ${shellWord(`${id}-results`)}`),
    },
    ask: {
      does: 'Find out whether the service has the task: nothing follows it, and one that exists is paid',
      command: 'longhaul reconcile',
    },
    retry: {
      does: 'Run all that failed again, with the rows and options that they had; those that the service ran are paid anew',
      command: batchCommand('retry', id),
    },
    start: {
      does: 'Start the rows that were stopped or not started, with the rows and options that they had; they are paid',
      command: batchCommand('retry', id),
    },
    correct: {
      does: `Nothing was paid. Correct the rows, then run the file again.${withOptions}`,
      command: run,
    },
    retryUnpaid: {
      does: 'Where the cause was not in the row, such as a photo or an app that was corrected: run the rows again that were refused unpaid, and no others',
      command: batchCommand('retry', id, ' --unpaid'),
    },
    correctPaid: {
      does: `Where the rows were corrected: run them, and pay them, anew.${withOptions}`,
      command: `${run} --allow-changed`,
    },
    changed: {
      does: `Nothing was started or paid, for the key stands for other content. Give the row another key; or run it, and pay it, anew.${withOptions}`,
      command: `${run} --allow-changed`,
    },
  };
}

/** What may be done about a row that failed so; the first is the usual repair. */
export function repairsOf(type: string, commands: Repairs): readonly Repair[] {
  const { ask, retry, correct, retryUnpaid, correctPaid, changed } = commands;
  const isOneOf = (types: readonly FailureType[]): boolean => types.some((one) => one === type);
  if (isOneOf(mayExistUnfollowed)) return [ask];
  if (type === failureTypes.InputChanged) return [changed];
  if (isOneOf(refusedInputs)) return [correct, retryUnpaid];
  if (isOneOf(unpaidRefusals)) return [retryUnpaid];
  return isOneOf(mayNeedOtherInput) ? [retry, correctPaid] : [retry];
}
