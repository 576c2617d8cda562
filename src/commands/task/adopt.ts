import type { Command } from 'commander';
import { type AdoptTaskOptions, checkedAdoption } from '../../client/start-check';
import { type CommandContext, type ConnectionOptions, withLonghaul } from '../command-context';
import { startAndFollow, type FinishStartOptions } from './follow-task';
import { readApp, repeatable, taskQueueOption } from '../shared-options';

interface AdoptOptions extends ConnectionOptions, FinishStartOptions {
  readonly key?: string;
  readonly app?: string;
  readonly account?: string;
  readonly archive?: string;
  readonly tag?: readonly string[];
  readonly webhook?: string;
}

const help = `
Nothing is created, so nothing is paid. A task that a running workflow follows
already is attached to; one whose workflow is over is archived again: what is
whole is kept, what is missing is fetched while the service still has it.

Example:
  $ longhaul adopt 3f0c2a4e-51c5-4a3e-9c40-7a1f1f0b6f11 --archive rescued
`;

/** `longhaul adopt REQUEST_ID`: follows a task that exists at the service, and archives it. */
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
    .addHelpText('after', help)
    .action(async (requestId: string, { key, app, account, archive, tag, webhook, ...options }: AdoptOptions) => {
      const how: AdoptTaskOptions = {
        webAppId: app === undefined ? undefined : readApp(app),
        account,
        archive,
        tags: tag,
        webhook,
      };
      // A key that is there must be one.
      const keyed = key === undefined ? how : { ...how, key };
      checkedAdoption(requestId, keyed);
      await withLonghaul(context, options, async (longhaul) => {
        await startAndFollow(context, () => longhaul.adopt(requestId, keyed), options);
      });
    });
}
