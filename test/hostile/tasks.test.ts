import { fuzzSeed } from '../support/fuzz-seed';
import { chosenScripts, commandFor, wanted } from './rogue/chosen-scripts';
import { RogueRun, sha256, type TaskEnding } from './rogue/rogue-run';
import { RogueService, type RogueTask } from './rogue/rogue-service';
import { taskScript } from './rogue/task-script';
import type { ReplyChange } from './rogue/wire-reply';

const QUIET_MS = 15_000;
const SETTLE_MS = 120_000 + 200 * wanted;
const STOP_WITHIN_MS = 60_000;
const TEST_TIMEOUT_MS = SETTLE_MS + STOP_WITHIN_MS + 180_000;
/** A worker that holds more than this for a few hundred small tasks has no bound. */
const MOST_MEBIBYTES = 2_500;

const scripts = chosenScripts(taskScript);
let run: RogueRun;

beforeAll(async () => {
  run = await RogueRun.start(scripts);
}, TEST_TIMEOUT_MS);

afterAll(() => run.close());

describe(`tasks whose every reply may be nasty (${scripts.length} of SEED=${fuzzSeed})`, () => {
  it(
    'end, or can be stopped within a minute; the worker lives, nothing is created twice, and what could be fetched is archived',
    async () => {
      await run.settle(QUIET_MS, SETTLE_MS);
      const before = await run.endings();
      const archived = run.archived();
      await run.stopAll();
      await run.waitUntilClosed(STOP_WITHIN_MS);
      const after = await run.endings();

      const problems = [
        ...(run.worker.isRunning() ? [] : [`the worker has ended: ${run.worker.output().slice(-2_000)}`]),
        ...(/unhandled|uncaught/i.test(run.worker.output()) ? ['the worker has an error that nobody caught'] : []),
        ...run.service.tasks.flatMap((task) => (isCreatedTwice(task) ? [told(task, 'was created twice')] : [])),
        ...before.flatMap((ending) => lostOutputs(ending, archived)),
        ...after.flatMap(({ task, execution }) => {
          return execution === 'RUNNING' || execution === 'NOT LISTED'
            ? [told(task, `is ${execution} after a stop`)]
            : [];
        }),
      ];
      if (process.env['TELL'] !== undefined) await tell(before);
      expect(problems).toEqual([]);
      expect(run.workerPeakMebibytes()).toBeLessThan(MOST_MEBIBYTES);
    },
    TEST_TIMEOUT_MS,
  );
});

/** A second create is right only after one that was answered by a refusal. */
function isCreatedTwice({ creates }: RogueTask): boolean {
  return creates.slice(0, -1).some((change) => !mayBeRefusal(change));
}

function mayBeRefusal({ status, headers, fields = [], body }: ReplyChange = {}): boolean {
  const isByStatus = status !== undefined && ((status >= 300 && status < 500 && status !== 408) || status === 503);
  const isByEnvelope = body !== undefined || fields.some(({ path }) => path === 'status');
  return isByStatus || isByEnvelope || headers?.some(([name]) => name === 'Retry-After') === true;
}

/** Outputs of a task that is over whose working links were given, and which are not in the archive. */
function lostOutputs({ task, execution, status }: TaskEnding, archived: ReadonlySet<string>): string[] {
  const { script, given, number } = task;
  if (execution === 'RUNNING') return [];
  return [...given].flatMap((output) => {
    const isFetchable = script.changes.every(({ endpoint, times }) => endpoint !== 'result' || times !== null);
    const content = RogueService.contentOf(number, output, script.outputs[output] ?? 0);
    if (!isFetchable || archived.has(sha256(content))) return [];
    return [told(task, `is ${execution} (${status}), and output ${output}, whose link works, is not archived`)];
  });
}

function told({ number, script }: RogueTask, problem: string): string {
  return `task ${number} ${problem}; ${commandFor('tasks', number)}; ${JSON.stringify(script).slice(0, 3_000)}`;
}

/** With TELL in the environment: how the tasks stood before they were stopped. */
async function tell(endings: readonly TaskEnding[]): Promise<void> {
  const counts = new Map<string, number>();
  for (const { execution, status } of endings) {
    const kind = `${execution} ${status}`;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  const lines = [...counts].map(([kind, count]) => `${count} ${kind}`);
  for (const { task, execution, status } of endings) {
    if (execution === 'RUNNING') lines.push(told(task, `was ${status}`));
    else if (execution === 'FAILED') lines.push(told(task, `failed: ${await run.failureMessage(task.number)}`));
  }
  lines.push(`worker: ${run.workerPeakMebibytes()} MiB`);
  process.stderr.write(`${lines.join('\n')}\n`);
}
