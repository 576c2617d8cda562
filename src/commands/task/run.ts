import { type Command, Option } from 'commander';
import { type AdoptTaskOptions, checkedAdoption, checkedStart, type StartTaskInput } from '../../client/start-check';
import type { NewTaskInput, UncertainPolicy, WatchWay } from '../../contract/task-input';
import { safeText, showValue } from '../../core/text';
import { looksLikeMediaFile, numberRemedy } from '../../rows';
import { type CommandContext, type ConnectionOptions, withLonghaul } from '../command-context';
import { startAndFollow, type FinishStartOptions } from './follow-task';
import { type InputOptions, readApp, readInputs, repeatable, taskQueueOption } from '../shared-options';
import { stageForWorkers } from '../staging';

interface RunOptions extends ConnectionOptions, InputOptions, FinishStartOptions {
  readonly key?: string;
  readonly account?: string;
  readonly archive?: string;
  readonly deadlineQueue?: string;
  readonly deadlineRun?: string;
  readonly deadlineTotal?: string;
  readonly watch?: WatchWay;
  readonly onUncertain?: UncertainPolicy;
  readonly suppressPreviewOutput?: true;
  readonly retry?: true;
  readonly tag?: readonly string[];
  readonly webhook?: string;
}

const help = `
Numbers: a VALUE that is a number as JSON writes it (512, -0.5, 1e3) is sent as
a number, unless it is too large to be held exactly; -s always sends text.
Files are opened by the worker: they must lie under its LONGHAUL_INPUT_ROOTS,
unless LONGHAUL_STAGING says where they are uploaded for it.

The same --key never makes a second task: repeated with the same input, the
command follows the task that exists. Ctrl-C detaches; the task goes on.

Example:
  $ longhaul run 4711 --key order-17 \\
      -i "1:LoadImage.image=@photo.jpg" -i "2:ImageScale.width=512" \\
      -s "3:Text.text=007"
`;

export function addRunCommand(program: Command, context: CommandContext): void {
  program
    .command('run')
    .description('Starts a task of an app, follows it, and prints where its outputs are archived.')
    .argument('<app>', 'the app’s web_app_id')
    .addOption(repeatable('-i, --input <KEY=VALUE>', 'an input; KEY=@FILE for a file, an https: or s3: URL'))
    .addOption(repeatable('-s, --string <KEY=TEXT>', 'an input that is sent as text, whatever it looks like'))
    .addOption(repeatable('--as <KEY=FORM>', 'what the app gets for a file: its url (default), name or id'))
    .option('--key <key>', 'makes this one task, however often it is started (default: a random key)')
    .addOption(repeatable('--tag <tag>', 'what "longhaul list --tag" finds it by; may be given several times'))
    .option('--account <name>', 'whose credentials the worker uses (default: "default")')
    .option('--archive <folder>', 'a folder inside the worker’s archive')
    .addOption(
      new Option('--watch <way>', 'how its end is noticed; activity suits thousands (default: timer)').choices([
        'timer',
        'activity',
      ]),
    )
    .option('--deadline-queue <duration>', 'from accepted to running, such as 90m (default: 24h)')
    .option('--deadline-run <duration>', 'from running to the end (default: 12h)')
    .option('--deadline-total <duration>', 'from the start of the task (default: 48h)')
    .addOption(
      new Option(
        '--on-uncertain <policy>',
        'when it is uncertain whether the task was created (default: hold)',
      ).choices(['hold', 'fail', 'recreate']),
    )
    .option('--webhook <name>', 'which webhook of the workers is sent when the task ends (default: none)')
    .option('--suppress-preview-output', 'passed on to the service')
    .option('--retry', 'if the task of this key ended without success, start it again; may be paid anew')
    .option('--detach', 'do not follow it')
    .option('--json', 'print one JSON object: the result, or the workflow id with --detach')
    .addOption(taskQueueOption())
    .addHelpText('after', help)
    .action(async (app: string, options: RunOptions) => {
      const named = startInput(app, options, context.cwd);
      const how = { retry: options.retry ?? false, tags: options.tag };
      checkedStart(named, how);
      for (const note of unintendedTexts(options.input ?? [])) context.stderr.write(note);
      const input = { ...named, inputs: await stageForWorkers(context, named.inputs) };
      await withLonghaul(context, options, async (longhaul) => {
        await startAndFollow(context, () => longhaul.start(input, how), options);
      });
    });
}

/** What looks like a file without its mark, or like a number. */
function unintendedTexts(given: readonly string[]): string[] {
  return given.flatMap((text) => {
    const equals = text.indexOf('=');
    const value = text.slice(equals + 1);
    const [key, file] = [text.slice(0, equals), safeText(value)];
    const remedy = numberRemedy(value);
    if (remedy !== undefined) return [`note: ${showValue(key)} is sent as text that looks like a number; ${remedy}\n`];
    if (value.startsWith('@') || !looksLikeMediaFile(value)) return [];
    return [`note: ${showValue(key)} is sent as text that looks like a file; -i ${key}=@${file} would upload it\n`];
  });
}

/** Not checked yet. */
function startInput(app: string, options: RunOptions, cwd: string): Extract<StartTaskInput, NewTaskInput> {
  const { key, account, archive, watch, onUncertain, suppressPreviewOutput, webhook } = options;
  const { deadlineQueue: queue, deadlineRun: run, deadlineTotal: total } = options;
  // A deadline that is there must be one.
  const deadlines = Object.entries({ queue, run, total }).filter(([, value]) => value !== undefined);
  const input = {
    webAppId: readApp(app),
    inputs: readInputs(options, cwd),
    deadlines: deadlines.length === 0 ? undefined : Object.fromEntries(deadlines),
    account,
    archive,
    watch,
    onUncertain,
    suppressPreviewOutput,
    webhook,
  };
  // A key that is there must be one.
  return key === undefined ? input : { ...input, key };
}

interface AdoptOptions extends ConnectionOptions, FinishStartOptions {
  readonly key?: string;
  readonly app?: string;
  readonly account?: string;
  readonly archive?: string;
  readonly tag?: readonly string[];
  readonly webhook?: string;
}

const adoptHelp = `
Nothing is created, so nothing is paid. A task that a running workflow follows
already is attached to; one whose workflow is over is archived again: what is
whole is kept, what is missing is fetched while the service still has it.

Example:
  $ longhaul adopt 3f0c2a4e-51c5-4a3e-9c40-7a1f1f0b6f11 --archive rescued
`;

export function addAdoptCommand(program: Command, context: CommandContext): void {
  program
    .command('adopt')
    .description('Follows a task that exists at the service, by its request id, and archives its outputs.')
    .argument('<request-id>', 'the service’s id of the task')
    .option('--key <key>', 'a key for it (default: one that the request id gives)')
    .option('--app <app>', 'its app’s web_app_id: the cost is known only with it')
    .addOption(repeatable('--tag <tag>', 'what "longhaul list --tag" finds it by; may be given several times'))
    .option('--account <name>', 'whose credentials the worker uses (default: "default")')
    .option('--archive <folder>', 'a folder inside the worker’s archive')
    .option('--webhook <name>', 'which webhook of the workers is sent when the task ends (default: none)')
    .option('--detach', 'do not follow it')
    .option('--json', 'print one JSON object: the result, or the workflow id with --detach')
    .addOption(taskQueueOption())
    .addHelpText('after', adoptHelp)
    .action(async (requestId: string, { key, app, account, archive, tag, webhook, ...options }: AdoptOptions) => {
      const how: AdoptTaskOptions = {
        webAppId: app === undefined ? undefined : readApp(app),
        account,
        archive,
        tags: tag,
        webhook,
      };
      const keyed = key === undefined ? how : { ...how, key };
      checkedAdoption(requestId, keyed);
      await withLonghaul(context, options, async (longhaul) => {
        await startAndFollow(context, () => longhaul.adopt(requestId, keyed), options);
      });
    });
}
