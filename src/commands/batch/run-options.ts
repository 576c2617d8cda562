import { type Command, Option } from 'commander';
import { maxAttempts, maxConcurrency } from '../../contract/batch/batch-input';
import { repeatable, taskQueueOption } from '../shared-options';

const oneOf = (flags: string, description: string, choices: readonly string[]): Option =>
  new Option(flags, description).choices(choices);

/** Of `batch run`. */
export function addRunOptions(command: Command): Command {
  command.option(
    '--id <id>',
    'the batch’s id (default: the name of the row file without its ending, or of the folder)',
  );
  return addRowFileOptions(command)
    .option('--account <name>', 'whose credentials the worker uses for every row; a row with another is refused')
    .addOption(
      oneOf('--on-uncertain <policy>', 'the policy of every row; a row with another is refused', [
        'hold',
        'fail',
        'recreate',
      ]),
    )
    .option('--refuse-tuning', 'refuse rows that set "tuning"')
    .option('--archive <folder>', 'a folder inside the archive (default: "batches/ID/outputs")')
    .option('--concurrency <rows>', `rows at the same time, 1 to ${maxConcurrency} (default: 100)`)
    .addOption(
      new Option('--watch <way>', 'how the end of a row is noticed (default: activity)').choices(['timer', 'activity']),
    )
    .option('--attempts <times>', `how often a row is tried whose failure another attempt may fix, 1 to ${maxAttempts}`)
    .option('--budget <amount>', 'what the batch may cost, such as 20EUR (default: no limit)')
    .option('--webhook <name>', 'which webhook of the workers is sent when the batch ends (default: none)')
    .option('--dry-run', 'check every row, say which are on record, and start nothing; Temporal is not needed')
    .addOption(
      new Option(
        '--prepare',
        'write the rows for the workers and print the input of the batch for another Temporal client; start nothing',
      ).conflicts(['dryRun', 'detach']),
    )
    .option('--first <rows>', 'run only so many good rows, to try it; the whole file goes on from there')
    .option('--skip-bad', 'go on without bad rows')
    .option('--problems <file>', 'write all problems of the rows as CSV')
    .option('--retry-failed', 'start rows again that did not succeed; may be paid anew')
    .option('--allow-changed', 'start rows again that changed under their key; paid anew')
    .option('--allow-new', 'keys that are not on record are other rows, although keys on record are missing; paid')
    .option('--detach', 'do not follow it')
    .option('--json', 'print one JSON object a line: what happens, and the result')
    .addOption(taskQueueOption());
}

function addRowFileOptions(command: Command): Command {
  return command
    .option('--app <app>', 'the app’s web_app_id, for rows that name none')
    .option('--each <KEY>', 'the input that each picture, video or sound is, or each line of a .txt')
    .option('--from <id>', 'instead of a file: the outputs of a former batch, with -i KEY=output')
    .option('--picks <file>', 'of --from: only the outputs that picks.csv of its report keeps')
    .option('--captions <KEY>', 'the input that the text file of the same name is')
    .option('--recursive', 'with the folders in a folder')
    .option('--sheet <name>', 'of a workbook (default: the first)')
    .option('--rows <field>', 'where a JSON object has its rows, such as products')
    .option('--encoding <name>', 'of text, such as windows-1252 (default: UTF-8 or UTF-16)')
    .option('--template <file>', 'a task’s input as JSON with {column} in it')
    .addOption(repeatable('-i, --input <KEY=VALUE>', 'an input of every row that does not have it itself'))
    .addOption(repeatable('-s, --string <KEY=TEXT>', 'the same, sent as text whatever it looks like'))
    .addOption(
      repeatable('--vary <KEY=VALUES>', 'a task for each value of each row, as 3:KSampler.seed=1,2,3 or =random*4'),
    )
    .option('--yes', 'run more than ten tasks for each row of the file')
    .addOption(repeatable('--as <KEY=FORM>', 'what the app gets for a file: its url (default), name or id'))
    .option('--key-column <column>', 'the column with a row’s key (default: "key")')
    .addOption(repeatable('--text-column <column>', 'a column that is sent as text, whatever it looks like'))
    .addOption(repeatable('--ignore-column <column>', 'a column that means nothing here'))
    .addOption(
      oneOf('--empty <meaning>', 'what an empty cell is: no input, empty text, or a mistake (default)', [
        'refuse',
        'omit',
        'text',
      ]),
    )
    .addOption(
      oneOf('--format <format>', 'of the row file (default: what its ending says)', [
        'jsonl',
        'csv',
        'tsv',
        'txt',
        'xlsx',
      ]),
    )
    .addOption(
      oneOf('--delimiter <delimiter>', 'between the cells of a table (default: what its format says)', [
        ',',
        ';',
        '|',
        'tab',
      ]),
    )
    .addOption(
      oneOf('--decimal <sign>', 'before the fraction of a number in a cell (default: point)', ['point', 'comma']),
    )
    .option('--names <template>', 'names of archived files, such as {batch}/{key}/{index}{ext}');
}
