import { spawn } from 'node:child_process';
import { Argument, type Command } from 'commander';
import { checkedTaskId } from '../client/start-check';
import { loadClientConfig, namespaceUrl } from '../config/client-config';
import { ConfigError } from '../config/environment';
import { loadTemporalConnection } from '../config/temporal-connection';
import { batchIdOf } from '../contract/workflow-ids';
import { type CommandContext, withLonghaul } from './command-context';

const help = `
The address is LONGHAUL_WEB_UI_URL. Without a terminal, only the link is
printed. Of an id that Temporal does not know there is none; where Temporal
cannot be reached, the link is printed unchecked.

Examples:
  $ longhaul open
  $ longhaul open order-17
  $ longhaul open batch:night-shift
`;

const openers: Partial<Record<NodeJS.Platform, string>> = { darwin: 'open', linux: 'xdg-open' };

export function addOpenCommand(program: Command, context: CommandContext): void {
  program
    .command('open')
    .description('Prints the link to the page of a task or batch in Temporal’s Web UI, and opens it in a browser.')
    .addArgument(
      new Argument('[id]', 'the task’s key, or a workflow id such as batch:photos (default: the list)').argParser(
        checkedTaskId,
      ),
    )
    .addHelpText('after', help)
    .action(async (id?: string) => {
      const { namespace } = loadTemporalConnection(context.env);
      const list = namespaceUrl(loadClientConfig(context.env).config.webUiUrl, namespace);
      if (list === null) {
        throw new ConfigError([
          'LONGHAUL_WEB_UI_URL is not set; give the address of Temporal’s Web UI, such as http://localhost:8233.',
        ]);
      }
      if (id !== undefined) {
        const { TemporalUnreachableError, TemporalBusyError } = await import('../client/connection-errors.js');
        try {
          // Throws when there is no such workflow, as `status` does.
          await withLonghaul(context, {}, async (longhaul) => {
            const batch = batchIdOf(id);
            await (batch === undefined ? longhaul.task(id) : longhaul.batch(batch)).isOver();
          });
        } catch (error) {
          if (!(error instanceof TemporalUnreachableError || error instanceof TemporalBusyError)) throw error;
          context.stderr.write(`warning: whether ${id} exists is not known: ${error.message}\n`);
        }
      }
      const page = `${list}/workflows${id === undefined ? '' : `/${encodeURIComponent(id)}`}`;
      context.stdout.write(`${page}\n`);
      const opener = openers[process.platform];
      if (context.stdout.isTTY === true && opener !== undefined) {
        // Without a browser on this machine the link is enough.
        spawn(opener, [page], { stdio: 'ignore', detached: true })
          .on('error', () => undefined)
          .unref();
      }
    });
}
