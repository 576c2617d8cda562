// `npm run demo`: every real part on this machine, one photo through one app, a file of rows with `--batch`, or an exercise
// for operators with `--drill`. `--stay` keeps everything up without a terminal, `--once` in none.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ReferenceService } from '../reference-service/start-reference-service';
import type { TaskResult } from '../src/contract/task-result';
import { errorMessage } from '../src/domain/text';
import { beginDrill, drills } from './demo-drill';
import { demoReport } from './demo-report';
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
  const isOnce = process.argv.includes('--once');
  const stops: (() => Promise<void>)[] = [];
  const interrupted = new AbortController();
  process.once('SIGINT', () => {
    interrupted.abort();
  });
  process.once('SIGTERM', () => {
    interrupted.abort();
  });
  try {
    const drill = readDrill();
    const stack = await startAll(stops);
    if (drill !== undefined) say(await beginDrill(drill, { ...stack, key: nameOfThisRun() }));
    else if (process.argv.includes('--batch')) await runBatch(stack, interrupted.signal);
    else say(await demoReport({ ...stack, result: await runTask(stack, interrupted.signal), photo }));
    const stays = process.argv.includes('--stay') || process.stdin.isTTY;
    if (isOnce || !stays || interrupted.signal.aborted) return;
    say('Everything stays up for a look around: press Ctrl-C to end.');
    await delay(2 ** 31 - 1, undefined, { signal: interrupted.signal }).catch(() => undefined);
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

async function startAll(stops: (() => Promise<void>)[]): Promise<Stack> {
  const startedAtMs = Date.now();
  say('Starting Temporal, the S3 server, the reference service and a worker …');
  const [temporal, service] = await Promise.all([
    startTemporal().then((server) => {
      stops.push(() => server.stop());
      return server;
    }),
    startReferenceStack({ timings }).then((started) => {
      stops.push(() => started.stop());
      return started;
    }),
  ]);
  const env = {
    ...process.env,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    LONGHAUL_SERVICE_URL: service.url,
    LONGHAUL_API_KEY: service.apiKey,
    LONGHAUL_ARCHIVE: archive,
    LONGHAUL_INPUT_ROOTS: join(root, 'examples'),
    ...(temporal.uiUrl !== undefined && { LONGHAUL_WEB_UI_URL: temporal.uiUrl }),
  };
  const worker = await supervise({ ...longhaulCommand(['worker']), env, graceMs: 90_000 });
  stops.push(() => worker.stop());
  await whenStarted(worker);
  say(`  ready after ${((Date.now() - startedAtMs) / 1000).toFixed(1)} s`);
  say(`  Temporal's Web UI   ${temporal.uiUrl ?? '(of the server at TEMPORAL_ADDRESS)'}`);
  say(`  the service's page  ${service.url}/`);
  say(`  longhaul            . ${writeEnvironment(env)}   # in another shell, then: longhaul list`);
  say('');
  return { temporal, service, worker, env };
}

/** The drill that `--drill` names. */
function readDrill() {
  const at = process.argv.indexOf('--drill');
  if (at === -1) return undefined;
  const name = process.argv[at + 1] ?? '';
  const drill = drills.get(name);
  if (drill === undefined) throw new Error(`--drill is "${name}"; give ${[...drills.keys()].join(' or ')}.`);
  return drill;
}

/** A file for a shell that has the variables of the demo, and the command; returns its path. */
function writeEnvironment(env: NodeJS.ProcessEnv): string {
  const names = Object.keys(env).filter((name) => env[name] !== process.env[name]);
  const { command, args } = longhaulCommand([]);
  const file = join(folder, 'environment.sh');
  const lines = [
    ...names.map((name) => `export ${name}=${quoted(env[name] ?? '')}`),
    `longhaul() { ${[command, ...args].map(quoted).join(' ')} "$@"; }`,
  ];
  mkdirSync(archive, { recursive: true });
  // It has the key of the demo's own service, which ends with the demo.
  writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o600 });
  return relative(process.cwd(), file);
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

async function whenStarted(worker: SupervisedProcess): Promise<void> {
  const deadline = Date.now() + workerDeadlineMs;
  while (!worker.output().includes('"msg":"worker started"')) {
    if (!worker.isRunning() || Date.now() > deadline) throw new Error(`The worker did not start:\n${worker.output()}`);
    await delay(100);
  }
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
