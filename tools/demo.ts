// `npm run demo`: every real part on this machine, one photo through one app, a file of rows with `--batch`, or an exercise
// for operators with `--drill`. `--stay` keeps everything up without a terminal, `--once` in none.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ReferenceService } from '../reference-service/start-reference-service';
import { Longhaul } from '../src/client/longhaul';
import type { TaskResult } from '../src/contract/task-result';
import { errorMessage } from '../src/core/text';
import { beginDrill, type Drill, drillEnd, drills } from './demo-drill';
import { stageIn, withoutOtherDemo, writeEnvironment } from './demo-environment';
import { type DemoOptions, readDemoOptions, usage } from './demo-options';
import { demoReport } from './demo-report';
import { watchParent } from './end-with-parent';
import { startReferenceStack } from './reference-stack';
import { longhaulCommand } from './source-command';
import { supervise, type SupervisedProcess } from './supervise';
import { startTemporal, type TemporalServer } from './temporal-server';

const root = join(__dirname, '..');
const photo = join(root, 'examples/photos/rocket.jpg');
const folder = join(root, 'archive/demo');
/** Of this run alone: its service ends with it, and with that the tasks that create records in the archive stand for. */
const archive = join(folder, nameOfThisRun());
/** Long enough that a person sees the task queue, prepare and run. */
const timings = { queueDelayMs: 2_000, preparingMs: 1_000, minimumRunningMs: 4_000 };
const workerDeadlineMs = 60_000;

/** What the demo runs, to be stopped in reverse. */
interface Stack {
  readonly temporal: TemporalServer;
  readonly service: ReferenceService;
  readonly worker: SupervisedProcess;
  readonly env: NodeJS.ProcessEnv;
}

async function main(): Promise<void> {
  const options = readDemoOptions(process.argv.slice(2));
  if (options === null) {
    say(usage);
    return;
  }
  const interrupted = new AbortController();
  const interrupt = (): void => {
    interrupted.abort();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, interrupt);
  // Only below npm: what a shell runs in the background may outlive the shell.
  const unwatch = process.env['npm_lifecycle_event'] === undefined ? undefined : watchParent(interrupt);
  const stops: (() => Promise<void>)[] = [];
  try {
    await runDemo(options, stops, interrupted.signal);
  } finally {
    unwatch?.();
    for (const stop of stops.reverse()) await stop();
  }
}

async function runDemo(options: DemoOptions, stops: (() => Promise<void>)[], signal: AbortSignal): Promise<void> {
  const stack = await startAll(stops);
  const drill = drills.get(options.drill ?? '');
  if (drill !== undefined) await runDrill(drill, stack, { stops, signal });
  else if (options.batch) await runBatch(stack, signal);
  else say(await demoReport({ ...stack, result: await runTask(stack, signal), photo }));
  const stays = options.stay || process.stdin.isTTY;
  if (options.once || !stays || signal.aborted) return;
  const how = process.stdin.isTTY ? 'press Ctrl-C to end, or type' : 'to end it, type';
  say(`Everything stays up for a look around: ${how} kill ${process.pid} in another shell.`);
  await delay(2 ** 31 - 1, undefined, { signal }).catch(() => undefined);
}

async function startAll(stops: (() => Promise<void>)[]): Promise<Stack> {
  const startedAtMs = Date.now();
  const { env: given, isOther } = withoutOtherDemo(process.env);
  if (isOther) say('This shell has the variables of another demo; this one does not use them.');
  say('Starting Temporal, the S3 server, the reference service and a worker …');
  const [temporal, service] = await Promise.all([
    startTemporal({ env: given }).then((server) => {
      stops.push(() => server.stop());
      return server;
    }),
    startReferenceStack({ timings }).then((started) => {
      stops.push(() => started.stop());
      return started;
    }),
  ]);
  // Of the worker, too, such as a file of prices: another one shall be as this one is.
  const taken = Object.fromEntries(Object.entries(given).filter(([name]) => name.startsWith('LONGHAUL_')));
  const own = {
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    LONGHAUL_SERVICE_URL: service.url,
    LONGHAUL_API_KEY: service.apiKey,
    LONGHAUL_ARCHIVE: archive,
    LONGHAUL_INPUT_ROOTS: join(root, 'examples'),
    ...(temporal.uiUrl !== undefined && { LONGHAUL_WEB_UI_URL: temporal.uiUrl }),
    ...(await stageIn(service.storage)),
  };
  const env = { ...given, ...own };
  const worker = await supervise({ ...longhaulCommand(['worker']), env, graceMs: 90_000 });
  let isStopping = false;
  stops.push(() => {
    isStopping = true;
    return worker.stop();
  });
  await whenStarted(worker);
  void worker.ended.then(({ code, signal }) => {
    if (isStopping) return;
    const how = signal ?? `exit code ${String(code)}`;
    say(`The worker ended (${how}): tasks wait. In a shell with the variables of the demo: longhaul worker`);
  });
  say(`  ready after ${((Date.now() - startedAtMs) / 1000).toFixed(1)} s`);
  say(`  Temporal's Web UI   ${temporal.uiUrl ?? '(of the server at TEMPORAL_ADDRESS)'}`);
  say(`  the service's page  ${service.url}/   # its apps and their inputs, tasks and pictures`);
  const file = writeEnvironment(folder, own, taken);
  stops.push(async () => {
    file.remove();
    await Promise.resolve();
  });
  say(`  longhaul            . ${relative(process.cwd(), file.path)}   # in another shell, then: longhaul list`);
  if (temporal.program !== undefined) say(`  temporal            ${temporal.program}   # Temporal's own command line`);
  say('');
  return { temporal, service, worker, env };
}

async function whenStarted(worker: SupervisedProcess): Promise<void> {
  const deadline = Date.now() + workerDeadlineMs;
  while (!worker.output().includes('"msg":"worker started"')) {
    if (!worker.isRunning() || Date.now() > deadline) throw new Error(`The worker did not start:\n${worker.output()}`);
    await delay(100);
  }
}

/** An exercise, and once a person has ended it, whether that solved it. */
async function runDrill(
  drill: Drill,
  { env, service }: Stack,
  { stops, signal }: { readonly stops: (() => Promise<void>)[]; readonly signal: AbortSignal },
): Promise<void> {
  const longhaul = await Longhaul.connect({ env });
  stops.push(() => longhaul.close());
  const parts = { longhaul, service, key: nameOfThisRun() };
  say(await beginDrill(drill, parts));
  void drillEnd(parts, signal).then(say, () => undefined);
}

/** One task. */
async function runTask(stack: Stack, signal: AbortSignal): Promise<TaskResult> {
  const inputs = [
    '1:LoadImage.image=@examples/photos/rocket.jpg',
    '2:ImageScale.width=480',
    '2:ImageScale.height=320',
    '3:ImageBlur.sigma=3',
  ];
  const args = ['run', '1', ...inputs.flatMap((input) => ['-i', input]), '--key', nameOfThisRun(), '--json'];
  return JSON.parse(await runLonghaul(stack, args, signal)) as TaskResult;
}

/** A file of rows; its table is the command's own. */
async function runBatch(stack: Stack, signal: AbortSignal): Promise<void> {
  const id = nameOfThisRun();
  const rows = ['examples/batch/photos.csv', '--template', 'examples/batch/template.json'];
  const places = ['--archive', 'pictures', '--names', '{batch}/{key}/{index}{ext}'];
  const table = await runLonghaul(stack, ['batch', 'run', ...rows, ...places, '--id', id], signal);
  say(`\n${table}`);
  say(`  pictures ${join(archive, 'pictures', id)}`);
  say(`  creates  ${stack.service.ledger.total('create')} (from the service's own ledger)\n`);
}

function nameOfThisRun(): string {
  return `demo-${new Date().toISOString().replace(/[:.]/g, '-')}`;
}

/** What a user would type; its progress is what they would see. Resolves with what it prints. */
async function runLonghaul({ env }: Stack, args: readonly string[], signal: AbortSignal): Promise<string> {
  say(`$ longhaul ${args.map((arg) => (/[@:{]/.test(arg) ? `'${arg}'` : arg)).join(' ')}`);
  const { command, args: commandArgs } = longhaulCommand(args);
  const child = spawn(command, commandArgs, { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'], signal });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`longhaul ${args[0] ?? ''} ended with exit code ${String(code)}: ${output}`);
  return output;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`${errorMessage(error)}\n`);
  process.exitCode = 1;
});
