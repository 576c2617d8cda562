import { setTimeout as delay } from 'node:timers/promises';
import type { ReferenceService } from '../reference-service/start-reference-service';
import { Longhaul } from '../src/client/longhaul';

/** An exercise for an operator: something goes wrong, and a person decides. */
interface Drill {
  readonly title: string;
  /** Has the service misbehave, until `clear`. */
  readonly prepare: (service: ReferenceService) => void;
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
      status: 'ArchiveIncomplete',
      prepare: ({ scenarios }) => {
        scenarios.add({ endpoint: 'outputs', scenario: { name: 'expired-links' }, times: 1_000 });
      },
      lines: (key) => [
        ['longhaul list --needs-person', 'what waits for a decision'],
        [`longhaul status ${key}`, 'what is missing, and until when the service has it'],
        [
          `longhaul rearchive ${key}`,
          'the links work again: fetches what is missing (by itself it would in half an hour)',
        ],
        [`longhaul status ${key} --follow`, 'to its end'],
      ],
    },
  ],
]);

/** Retries are short, so that the exercise begins soon; then nothing repairs itself for half an hour. */
const tuning = { archiveGraceMs: 2_000, archivePauseMs: 1_800_000, retryMaxMs: 500 };
const beginWithinMs = 60_000;

/** Brings a task to where a person has to decide; resolves with what happened, and what to type. */
export async function beginDrill(
  { title, prepare, status, lines }: Drill,
  { service, env, key }: { readonly service: ReferenceService; readonly env: NodeJS.ProcessEnv; readonly key: string },
): Promise<string> {
  const longhaul = await Longhaul.connect({ env });
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
    await longhaul.close();
  }
  const requestId = service.ledger.entries({ endpoint: 'create' }).at(-1)?.requestId ?? '';
  const typed = lines(key, requestId, service.url);
  const width = Math.max(...typed.map(([line]) => line.length));
  return [title, '', ...typed.map(([line, why]) => `  ${line.padEnd(width)}  # ${why}`), ''].join('\n');
}
