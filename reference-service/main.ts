import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import pino from 'pino';
import { watchParent } from '../tools/end-with-parent';
import { startReferenceStack } from '../tools/reference-stack';
import type { ReferenceService } from './start-reference-service';

const USAGE = `Usage: npm run service -- [options]

  --port NUMBER      port to listen on (default: a free one)
  --host ADDRESS     address to listen on (default: 127.0.0.1)
  --api-key KEY      key of the account "local" (default: a random one)
  --slots NUMBER     tasks that run at once (default: 4)
  --control          open the control endpoint; its token is printed
  --verbose          log every request, as JSON lines on standard error
  --help             show this text

Example: npm run service -- --port 8080 --api-key my-local-key
`;

const OPTIONS = {
  port: { type: 'string' },
  host: { type: 'string' },
  'api-key': { type: 'string' },
  slots: { type: 'string' },
  control: { type: 'boolean', default: false },
  verbose: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

async function main(): Promise<void> {
  const { values } = parseArgs({ options: OPTIONS });
  if (values.help) {
    process.stdout.write(USAGE);
    return;
  }
  const { port, host, slots, 'api-key': apiKey } = values;
  // The S3 client would otherwise announce, at every start, that its next year's versions need another Node.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] = 'true';
  const endOfNpm = nextEndOfNpm();
  const controlToken = values.control ? randomBytes(24).toString('base64url') : undefined;
  const service = await startReferenceStack({
    ...(port !== undefined && { port: Number(port) }),
    ...(host !== undefined && { host }),
    ...(slots !== undefined && { slots: Number(slots) }),
    ...(apiKey !== undefined && { accounts: [{ id: 'local', apiKey }] }),
    ...(controlToken !== undefined && { controlToken }),
    logger: pino({ level: values.verbose ? 'debug' : 'warn' }, pino.destination({ dest: 2, sync: true })),
  });
  process.stdout.write(announcement(service, controlToken));
  await Promise.race([nextStopSignal(), endOfNpm]);
  await service.stop();
}

function announcement(service: ReferenceService, controlToken: string | undefined): string {
  const apps = [...service.apps.values()];
  return [
    'The reference service is ready.',
    `  LONGHAUL_SERVICE_URL=${service.url}`,
    `  LONGHAUL_API_KEY=${service.apiKey}`,
    `  page             ${service.url}/`,
    ...(controlToken === undefined ? [] : [`  control token    ${controlToken}`]),
    ...apps.map(({ webAppId, name, description }) => `  app ${String(webAppId).padEnd(4)} ${name}: ${description}`),
    'Ctrl-C stops it.',
    '',
  ].join('\n');
}

/** Asked for before the start, during which npm may end. Without npm never: what a shell starts may outlive the shell. */
function nextEndOfNpm(): Promise<void> {
  return new Promise((resolve) => {
    if (process.env['npm_lifecycle_event'] !== undefined) watchParent(resolve);
  });
}

function nextStopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.once(signal, () => {
        resolve();
      });
    }
  });
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
