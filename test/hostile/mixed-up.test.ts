// Compares bytes, and the service's ledger with what is archived, followed or named. An oracle that counts creates and
// looks for hashes anywhere in the archive passes where a late callback settles another create, where one output is
// archived twice instead of two, where a former task's files are taken for those of a new task with its id, and where
// the detail of another task is believed.
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Client } from '@temporalio/client';
import { freePorts } from '../../tools/free-port';
import { serverEnvironment } from '../../tools/start-server';
import { supervise } from '../../tools/supervise';
import { Longhaul } from '../../src/client/longhaul';
import { eventually } from '../support/eventually';
import { fuzzSeed } from '../support/fuzz-seed';
import { listFiles } from '../support/list-files';
import { longhaulCommand } from '../support/product-build';
import { runLonghaul } from '../support/run-longhaul';
import type { Closer } from '../support/task-stack';
import { temporaryFolder } from '../support/temporary-folder';
import { connectClient, temporalAddress } from '../support/temporal-connection';
import { chosenScripts, commandFor, wanted } from './rogue/chosen-scripts';
import { mixingScript } from './rogue/mixing-script';
import { bytesOf, type Creation, MixingService } from './rogue/mixing-service';
import { sha256, startWorker, tuning } from './rogue/rogue-run';

const quietMs = 25_000;
const settleMs = 150_000 + 400 * wanted;

const scripts = chosenScripts(mixingScript);
const closers: Closer[] = [];

afterAll(async () => {
  for (const close of closers.reverse()) await close();
});

describe(`keys at a service that mixes up what it can (${scripts.length} of SEED=${fuzzSeed})`, () => {
  it(
    'have each output that was made for them in their own folder, no byte of another one, and what is not archived is followed or named',
    async () => {
      const run = await startRun();
      await run.settle();
      const { findings, open } = await run.compare();
      const manifests = readManifests(run.archive);
      const problems = [
        ...run.service.ledger.flatMap((creation) => lost(run, creation, { manifests, findings, open })),
        ...manifests.flatMap((manifest) => mixed(run, manifest)),
        ...scripts.flatMap((_, number) => createdTooOften(run, number)),
        ...(run.worker.isRunning() ? [] : [`the worker has ended: ${run.worker.output().slice(-2_000)}`]),
      ];
      if (process.env['TELL'] !== undefined) process.stderr.write(`${run.told(open)}\n`);
      expect(problems).toEqual([]);
    },
    settleMs + 300_000,
  );
});

/** What the archive says of one task. */
interface Manifest {
  readonly place: string;
  readonly requestId: string;
  readonly workflowId: string;
  readonly hashes: readonly string[];
}

interface Compared {
  readonly manifests: readonly Manifest[];
  /** What `reconcile` names. */
  readonly findings: readonly { readonly requestId: string | null; readonly workflowId: string | null }[];
  /** The states of the workflows that run, by their ids. */
  readonly open: ReadonlyMap<string, { readonly status: string; readonly requestId: string | null }>;
}

type Run = Awaited<ReturnType<typeof startRun>>;

function lost(run: Run, creation: Creation, { manifests, findings, open }: Compared): string[] {
  const { number, requestId } = creation;
  const workflowId = run.workflowIdOf(number);
  if (run.service.stateOf(creation) !== 'Success') return [];
  const wanted = hashesOf(run, creation);
  const isArchived = manifests.some(
    (one) =>
      one.requestId === requestId && one.workflowId === workflowId && wanted.every((hash) => one.hashes.includes(hash)),
  );
  const follower = open.get(workflowId);
  // One whose end is not understood is followed until its results have expired.
  const isFollowed = follower?.requestId === requestId && follower.status === 'ArchiveIncomplete';
  const isNamed = findings.some(
    (one) => one.requestId === requestId || (one.requestId === null && one.workflowId === workflowId),
  );
  if (isArchived || isFollowed || isNamed) return [];
  const stands = follower === undefined ? 'over' : follower.status;
  return [
    told(
      number,
      `lost its task ${creation.index} (${requestId}): the workflow is ${stands}, and reconcile does not name it`,
    ),
  ];
}

/** Whether a manifest has bytes that were not made for its task. */
function mixed(run: Run, { place, requestId, workflowId, hashes }: Manifest): string[] {
  const own = run.service.ledger.filter(
    (one) => one.requestId === requestId && run.workflowIdOf(one.number) === workflowId,
  );
  const [creation] = own;
  if (creation === undefined)
    return [`${place} is of ${workflowId} and ${requestId}, which the service never made for it`];
  const wanted = own.flatMap((one) => hashesOf(run, one));
  return hashes.some((hash) => !wanted.includes(hash))
    ? [told(creation.number, `has bytes in ${place} that were not made for it`)]
    : [];
}

/** A key is paid again only after its task failed, and the key was started again. */
function createdTooOften({ service }: Run, number: number): string[] {
  const own = service.ledger.filter((creation) => creation.number === number);
  return own.length > (service.scriptOf({ number }).failsFirst ? 2 : 1)
    ? [told(number, `was created ${own.length} times`)]
    : [];
}

function hashesOf({ service }: Run, creation: Creation): string[] {
  return Array.from({ length: service.scriptOf(creation).outputs }, (_, output) => sha256(bytesOf(creation, output)));
}

/** Every manifest of the archive, with the hashes of the files themselves. */
function readManifests(archive: string): Manifest[] {
  return listFiles(archive)
    .filter((name) => name.endsWith('manifest.json'))
    .map((place) => {
      const { requestId, workflowId, outputs } = JSON.parse(readFileSync(join(archive, place), 'utf8')) as {
        requestId: string;
        workflowId: string;
        outputs: { file: string | null }[];
      };
      const files = outputs.flatMap(({ file }) => (file === null ? [] : [join(archive, dirname(place), file)]));
      return { place, requestId, workflowId, hashes: files.map((file) => sha256(readFileSync(file))) };
    });
}

async function startRun() {
  const folder = temporaryFolder();
  closers.push(folder.remove);
  const service = new MixingService(scripts);
  await service.start();
  closers.push(() => service.stop());
  const address = temporalAddress();
  const connection = await connectClient(address);
  closers.push(() => connection.close());
  const taskQueue = `mixed-${randomUUID()}`;
  const [archive, inputs] = [join(folder.path, 'archive'), join(folder.path, 'inputs')];
  mkdirSync(inputs);
  const [port = 0] = await freePorts(1);
  const callbacks = {
    LONGHAUL_CALLBACK_URL: `http://127.0.0.1:${port}/callbacks`,
    LONGHAUL_CALLBACK_TOKEN: 'token-of-the-mixed-up',
  };
  const receiver = await supervise({
    ...longhaulCommand(['receiver']),
    cwd: join(__dirname, '../..'),
    env: { ...serverEnvironment(), TEMPORAL_ADDRESS: address, LONGHAUL_CALLBACK_PORT: String(port), ...callbacks },
    logFile: join(folder.path, 'receiver.log'),
  });
  closers.push(() => receiver.stop());
  const where = { address, archive, inputs, taskQueue };
  const worker = await startWorker(folder.path, service.url, where, { accounts: scripts.length, env: callbacks });
  closers.push(() => worker.stop());
  const client = new Client({ connection });
  const longhaul = new Longhaul({ client, taskQueue });
  const workflowIdOf = (number: number): string => `task:${taskQueue}-${number}`;
  const start = (number: number, retry: boolean): Promise<unknown> =>
    longhaul.start(
      {
        ...{ key: `${taskQueue}-${number}`, webAppId: 1, account: `account-${number}` },
        ...{ inputs: { '1:Text.text': `task-${number}` }, watch: service.scriptOf({ number }).watch, tuning },
      },
      { retry },
    );
  closers.push(async () => {
    for await (const { workflowId } of client.workflow.list({
      query: `TaskQueue = '${taskQueue}' AND ExecutionStatus = 'Running'`,
    }))
      await client.workflow
        .getHandle(workflowId)
        .terminate('the test is over')
        .catch(() => undefined);
  });
  const startedAgain = new Set<number>();
  /** Starts the keys again whose first task failed; how many workflows run, and how many are over. */
  const lookAgain = async (): Promise<{ readonly running: number; readonly over: number }> => {
    let [running, over] = [0, 0];
    for await (const { workflowId, status, isOver } of longhaul.list()) {
      const number = scripts.findIndex((_, index) => workflowIdOf(index) === workflowId);
      if (number < 0) continue;
      if (isOver) over += 1;
      else running += 1;
      if (!isOver || status !== 'Failed' || startedAgain.has(number)) continue;
      startedAgain.add(number);
      await start(number, true);
    }
    return { running, over };
  };
  for (const number of scripts.keys()) await start(number, false);
  return {
    ...{ service, worker, archive, workflowIdOf },
    /** Waits until all are over, or none has ended for a while. */
    settle: async (): Promise<void> => {
      const deadline = Date.now() + settleMs;
      let [lastOver, sinceMs] = [-1, Date.now()];
      const isQuiet = async (): Promise<boolean> => {
        const { running, over } = await lookAgain();
        if (over !== lastOver) [lastOver, sinceMs] = [over, Date.now()];
        return (running === 0 && over > 0) || Date.now() - sinceMs > quietMs || Date.now() > deadline;
      };
      await eventually(isQuiet, { withinMs: settleMs + 60_000, everyMs: 1_000, what: 'the keys to be settled' });
    },
    compare: async (): Promise<Omit<Compared, 'manifests'>> => {
      const open = new Map<string, { status: string; requestId: string | null }>();
      for await (const { workflowId, status, requestId } of longhaul.list({ running: true }))
        open.set(workflowId, { status, requestId });
      const { stdout, stderr } = await runLonghaul(['reconcile', '--json', '--task-queue', taskQueue], worker.env);
      const { findings } = JSON.parse(stdout || `{"error":${JSON.stringify(stderr)}}`) as {
        findings?: Compared['findings'];
      };
      if (findings === undefined) throw new Error(`reconcile failed: ${stdout}${stderr}`);
      return { findings, open };
    },
    told: (open: Compared['open']): string =>
      [...scripts.keys()]
        .map(
          (number) =>
            `${number} ${open.get(workflowIdOf(number))?.status ?? 'over'} ${JSON.stringify(scripts[number])}`,
        )
        .join('\n'),
  };
}

function told(number: number, problem: string): string {
  return `key ${number} ${problem}; ${commandFor('mixed-up', number)}; ${JSON.stringify(scripts[number])}`;
}
