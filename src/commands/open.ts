import { spawn } from 'node:child_process';
import { Argument, type Command } from 'commander';
import { checkedTaskId } from '../client/start-check';
import { loadClientConfig, namespaceUrl } from '../config/client-config';
import { ConfigError } from '../config/environment';
import { loadTemporalConnection } from '../config/temporal-connection';
import type { CommandContext } from './command-context';

const help = `
The address is LONGHAUL_WEB_UI_URL. Without a terminal, only the link is
printed.

Examples:
  $ longhaul open
  $ longhaul open order-17
  $ longhaul open batch:night-shift
`;

/** The programs that open a link, by platform. */
const openers: Partial<Record<NodeJS.Platform, string>> = { darwin: 'open', linux: 'xdg-open' };

/** `longhaul open ID`: a page of Temporal's Web UI, in the browser. */
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
    .action((id?: string) => {
      const { namespace } = loadTemporalConnection(context.env);
      const list = namespaceUrl(loadClientConfig(context.env).config.webUiUrl, namespace);
      if (list === null) {
        throw new ConfigError([
          'LONGHAUL_WEB_UI_URL is not set; give the address of Temporal’s Web UI, such as http://localhost:8233.',
        ]);
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
