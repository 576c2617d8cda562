import { readFileSync } from 'node:fs';
import { Command, InvalidArgumentError } from 'commander';
import { errorMessage } from '../../src/core/text';
import { startReferenceTarget } from './reference-target';
import { isConforming, reportOf } from './report';
import { runConformance } from './run-conformance';
import { specifiedPace, type AppRun, type Target } from './target';

interface Options {
  readonly url?: string;
  readonly keyFile?: string;
  readonly paid: boolean;
  readonly upload: boolean;
  readonly client: boolean;
  readonly app?: number;
  readonly input: readonly string[];
  readonly failingApp?: number;
  readonly failingInput: readonly string[];
  readonly slowApp?: number;
  readonly slowInput: readonly string[];
  readonly callbackUrl?: string;
  readonly callbackPort: number;
  readonly otherBucket?: string;
  readonly linkLifetime?: number;
  readonly credentialLifetime?: number;
}

const program = new Command('conformance')
  .description(
    'Checks a service against the specification, clause by clause. Without --url it starts the reference service.\n' +
      'Against another service it reads, and uploads a few small files; tasks, which cost money, are created only with --paid.',
  )
  .option('--url <url>', 'base URL of the service')
  .option('--key-file <file>', 'file with the API key; otherwise LONGHAUL_API_KEY is read')
  .option('--paid', 'create tasks: about ten, and as many again through the client', false)
  .option('--no-upload', 'upload nothing')
  .option('--no-client', 'leave out the second run, through the client')
  .option('--app <id>', 'web_app_id of an app that succeeds', readId)
  .option('--input <key=value>', 'one of its inputs; a number, a text or @FILE; may be repeated', collect, [])
  .option('--failing-app <id>', 'web_app_id of an app that fails', readId)
  .option('--failing-input <key=value>', 'one of its inputs', collect, [])
  .option('--slow-app <id>', 'web_app_id of an app that runs half a minute or longer', readId)
  .option('--slow-input <key=value>', 'one of its inputs', collect, [])
  .option(
    '--callback-url <url>',
    'how the service reaches this machine, such as the URL of a tunnel to --callback-port',
  )
  .option('--callback-port <port>', 'loopback port to receive callbacks on; 0 takes a free one', readId, 0)
  .option('--other-bucket <name>', 'a bucket of the same storage that the service does not upload to')
  .option('--link-lifetime <seconds>', 'how long links work, if that is known', readId)
  .option('--credential-lifetime <seconds>', 'how long upload credentials work, if that is known', readId)
  .addHelpText(
    'after',
    '\nExit code: 0 when nothing was found that does not hold, 1 otherwise, 2 when it could not be looked at.\n\n' +
      'Example:\n  $ npm run conformance -- --url https://service.example --key-file key.txt --paid \\\n' +
      '      --app 42 --input 1:LoadImage.image=@photo.jpg --input 2:ImageScale.width=512\n',
  );

async function main(): Promise<void> {
  program.parse();
  const options = program.opts<Options>();
  const started = options.url === undefined ? await startReferenceTarget() : undefined;
  try {
    const target = started?.target ?? targetOf(options.url ?? '', options);
    const say = (line: string): void => void process.stderr.write(`${line}\n`);
    const findings = await runConformance(target, { throughClient: options.client, say });
    process.stdout.write(reportOf(findings));
    process.exitCode = isConforming(findings) ? 0 : 1;
  } finally {
    await started?.service.stop();
  }
}

function targetOf(baseUrl: string, options: Options): Target {
  if (!/^https?:\/\//.test(baseUrl) || !URL.canParse(baseUrl)) throw new Error('--url is no http or https URL');
  if (options.paid && options.app === undefined) throw new Error('--paid needs --app, with its --input');
  const { app, failingApp, slowApp, callbackUrl, callbackPort, otherBucket, linkLifetime, credentialLifetime } =
    options;
  return {
    baseUrl,
    apiKey: readKey(options.keyFile),
    mayPay: options.paid,
    mayUpload: options.upload,
    ...(app !== undefined && { app: appRun(app, options.input) }),
    ...(failingApp !== undefined && { failingApp: appRun(failingApp, options.failingInput) }),
    ...(slowApp !== undefined && { slowApp: appRun(slowApp, options.slowInput) }),
    ...(otherBucket !== undefined && { otherBucket }),
    callbacks: { port: callbackPort, ...(callbackUrl !== undefined && { publicUrl: callbackUrl }) },
    pace: {
      ...specifiedPace,
      ...(linkLifetime !== undefined && { linkLifetimeMs: linkLifetime * 1_000 }),
      ...(credentialLifetime !== undefined && { credentialLifetimeMs: credentialLifetime * 1_000 }),
    },
  };
}

function readKey(file: string | undefined): string {
  const key = file === undefined ? process.env['LONGHAUL_API_KEY'] : readFileSync(file, 'utf8');
  if (key === undefined || key.trim() === '') throw new Error('no API key: give --key-file or set LONGHAUL_API_KEY');
  return key.trim();
}

function appRun(webAppId: number, inputs: readonly string[]): AppRun {
  return { webAppId, inputs: Object.fromEntries(inputs.map(readInput)) };
}

function readInput(text: string): [string, AppRun['inputs'][string]] {
  const equals = text.indexOf('=');
  if (equals < 1) throw new Error(`"${text}" is not of the form KEY=VALUE`);
  const [key, value] = [text.slice(0, equals), text.slice(equals + 1)];
  if (value.startsWith('@')) return [key, { file: value.slice(1) }];
  return [key, /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value];
}

function readId(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It is no whole number.');
  return Number(text);
}

function collect(text: string, texts: readonly string[]): readonly string[] {
  return [...texts, text];
}

main().catch((error: unknown) => {
  process.stderr.write(`${errorMessage(error)}\n`);
  process.exitCode = 2;
});
