import { setTimeout as delay } from 'node:timers/promises';
import type { ReferenceService } from '../reference-service/start-reference-service';
import { TaskFailedError } from '../src/client/errors';
import type { Longhaul } from '../src/client/longhaul';

/** An exercise for an operator: something goes wrong, and a person decides. */
export interface Drill {
  readonly title: string;
  /** Has the service misbehave, until `clear`. */
  readonly prepare: (service: ReferenceService) => void;
  /** What is true once it behaves again. */
  readonly repaired: string;
  /** The state in which the task waits. */
  readonly status: string;
  readonly lines: (key: string, requestId: string, serviceUrl: string) => readonly (readonly [string, string])[];
}

/** The drills, by the word that `npm run demo -- --drill WORD` takes. */
export const drills: ReadonlyMap<string, Drill> = new Map([
  [
    'uncertain',
    {
      title:
        'The service took a create, and its reply was lost: the task may exist, and be paid. Nothing is sent again.',
      repaired: 'Its replies arrive again.',
      status: 'CreateUncertain',
      prepare: ({ scenarios }) => {
        scenarios.add({ endpoint: 'create', scenario: { name: 'drop-reply' }, times: 1_000 });
      },
      lines: (key, requestId, serviceUrl) => [
        ['longhaul list --needs-person', 'what waits for a decision'],
        [`longhaul status ${key}`, 'what happened, and the commands to choose from'],
        [`${serviceUrl}/`, 'the service’s own list: the task is there'],
        [`longhaul resolve ${key} --adopt ${requestId}`, 'so it is followed'],
        [`longhaul status ${key} --follow`, 'to its end; one create was sent'],
      ],
    },
  ],
  [
    'archive',
    {
      title:
        'The task succeeded, and the links to its results did not work: the result is paid, and only at the service.',
      repaired: 'The service was repaired since: the links work again.',
      status: 'ArchiveIncomplete',
      prepare: ({ scenarios }) => {
        scenarios.add({ endpoint: 'outputs', scenario: { name: 'expired-links' }, times: 1_000 });
      },
      lines: (key) => [
        ['longhaul list --needs-person', 'what waits for a decision'],
        [`longhaul status ${key}`, 'what is missing, and until when the service has it'],
        [`longhaul rearchive ${key}`, 'fetches what is missing (by itself it would in half an hour)'],
        [`longhaul status ${key} --follow`, 'to its end'],
      ],
    },
  ],
]);

/** Retries are short, so that the exercise begins soon; then nothing repairs itself for half an hour. */
const tuning = { archiveGraceMs: 2_000, archivePauseMs: 1_800_000, retryMaxMs: 500 };
const beginWithinMs = 60_000;

/** What a drill works with. */
interface DrillParts {
  readonly longhaul: Longhaul;
  readonly service: ReferenceService;
  /** Of its task. */
  readonly key: string;
}

/** Brings a task to where a person has to decide; resolves with what happened, and what to type. */
export async function beginDrill(drill: Drill, { longhaul, service, key }: DrillParts): Promise<string> {
  const { title, repaired, prepare, status, lines } = drill;
  prepare(service);
  try {
    const task = await longhaul.start({ key, webAppId: 5, inputs: {}, tuning });
    const deadlineMs = Date.now() + beginWithinMs;
    while ((await task.status()).status !== status) {
      if (Date.now() > deadlineMs) throw new Error(`The drill did not begin: ${key} is not ${status}.`);
      await delay(200);
    }
  } finally {
    service.scenarios.clear();
  }
  const requestId = service.ledger.entries({ endpoint: 'create' }).at(-1)?.requestId ?? '';
  const typed = lines(key, requestId, service.url);
  const width = Math.max(...typed.map(([line]) => line.length));
  return [title, repaired, '', ...typed.map(([line, why]) => `  ${line.padEnd(width)}  # ${why}`), ''].join('\n');
}

/** Waits until the task of a drill is over; resolves with whether that solved it. Rejects when the signal aborts. */
export async function drillEnd(
  { longhaul, key }: Pick<DrillParts, 'longhaul' | 'key'>,
  signal: AbortSignal,
): Promise<string> {
  const task = longhaul.task(key);
  try {
    const { status } = await task.result({ signal });
    const { createRequests } = await task.status({ signal });
    const paid = createRequests === 1 ? 'one create was sent, so it is paid once' : 'more than one create was sent';
    return `The drill is solved: ${key} ended as ${status}; ${paid}.`;
  } catch (error) {
    if (!(error instanceof TaskFailedError)) throw error;
    return `The drill is over, and not solved: ${key} ended as ${error.failureType}.`;
  }
}
