import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/common';
import type { CreateHeartbeat, CreateTaskInput, CreateTaskResult } from '../../src/contract/activities';
import { ServiceClient } from '../../src/service';
import type { Archive } from '../../src/storage/archive/archive';
import { FolderArchive } from '../../src/storage/archive/folder-archive';
import { CreateAttempts } from './create-attempts';
import { replyJson, startHttpServer } from './start-http-server';
import { UnheardArchive } from './unheard-archive';
import { temporaryFolder } from './temporary-folder';

/** An attempt that gave no answer after this is lost; long enough for one that nothing holds up. */
const attemptMs = 6_000;

/** What the service does with the first create; it takes those that follow. */
type Answer = 'takes it' | 'refuses it for now' | 'takes it and cuts the connection';
export const answers: readonly Answer[] = ['takes it', 'refuses it for now', 'takes it and cuts the connection'];

/** What comes after the attempt that was held. */
type Successor =
  | 'its workflow, which finds out first'
  | 'its workflow, in a worker with another archive'
  | 'a server that retries it'
  | 'a server that retries it in a worker with another archive'
  | 'a reset or a rerun';
export const successors: readonly Successor[] = [
  'its workflow, which finds out first',
  'its workflow, in a worker with another archive',
  'a server that retries it',
  'a server that retries it in a worker with another archive',
  'a reset or a rerun',
];

/** What becomes of the attempt that was held. */
type Fate = 'dies' | 'dies before its last heartbeat is sent' | 'comes back when all is over';
const fates: readonly Fate[] = ['dies', 'dies before its last heartbeat is sent', 'comes back when all is over'];

const folder = temporaryFolder();
/** By app, of which each course has its own. */
const courses = new Map<string, { answer: Answer; sent: number; mayHaveTaken: number }>();
let url: string;
let close: () => Promise<void>;
beforeAll(async () => {
  const server = await startHttpServer(({ body }, response) => {
    const { web_app_id } = JSON.parse(body) as { web_app_id: string | number };
    const course = courses.get(String(web_app_id));
    if (course === undefined) throw new Error(`Nobody lives with app ${web_app_id}.`);
    course.sent += 1;
    const isFirst = course.sent === 1;
    if (isFirst && course.answer === 'refuses it for now') {
      replyJson(response, 429, { code: 50600, message: 'too many', status: false });
      return;
    }
    course.mayHaveTaken += 1;
    if (isFirst && course.answer !== 'takes it') response.destroy();
    else replyJson(response, 202, { requestId: `r-${web_app_id}-${course.sent}` });
  });
  ({ url } = server);
  close = () => server.close();
});
afterAll(async () => {
  await close();
  folder.remove();
});

/** Holds the caller at one of its awaits: before what it awaits is done, or after. */
class Hold {
  /** How many awaits there were, each counted twice. */
  points = 0;
  where = '';
  readonly #at: number;
  #release: () => void = () => undefined;
  readonly #released = new Promise<void>((resolve) => {
    this.#release = resolve;
  });
  #reach: () => void = () => undefined;
  readonly reached = new Promise<void>((resolve) => {
    this.#reach = resolve;
  });

  constructor(at: number) {
    this.#at = at;
  }

  letGo(): void {
    this.#release();
  }

  async point(where: string): Promise<void> {
    this.points += 1;
    if (this.points !== this.#at) return;
    this.where = where;
    this.#reach();
    await this.#released;
  }

  /** The same object, each of whose promises may be held. */
  over<T extends object>(target: T, name: string): T {
    return new Proxy(target, {
      get: (_target, property) => {
        const value: unknown = Reflect.get(target, property, target);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]): unknown => {
          const call = (): unknown => Reflect.apply(value, target, args);
          if (!heldMethods.has(String(property))) return call();
          const where = `${name}.${String(property)}`;
          return (async () => {
            await this.point(`before ${where}`);
            const result = await call();
            await this.point(`after ${where}`);
            return result;
          })();
        };
      },
    });
  }
}

const heldMethods = new Set(['read', 'putIfAbsent', 'replace', 'append', 'remove', 'createTask', 'heartbeat']);

/** Temporal, as far as one activity is concerned: which attempt counts, and what was heartbeat. */
class Scheduled {
  details: CreateHeartbeat | undefined;
  #current: string | undefined;

  begin(): string {
    this.#current = randomUUID();
    return this.#current;
  }

  end(): void {
    this.#current = undefined;
  }

  take(attempt: string, details: unknown): void {
    if (attempt !== this.#current) throw new Error('activity task not found');
    this.details = details as CreateHeartbeat;
  }
}

type Ending =
  { readonly result: CreateTaskResult } | { readonly retryable: ApplicationFailure } | { readonly failed: unknown };

class Course {
  readonly app: number;
  readonly #workflowId = `task:${randomUUID()}`;
  readonly #archives: readonly [FolderArchive, FolderArchive];
  readonly #answer: Answer;
  readonly wrong: object[] = [];

  readonly #isUnheard: boolean;
  /** When the attempt was held. */
  #wasTaken = false;

  constructor(app: number, answer: Answer, isUnheard: boolean) {
    this.app = app;
    this.#answer = answer;
    this.#isUnheard = isUnheard;
    courses.set(String(app), { answer, sent: 0, mayHaveTaken: 0 });
    this.#archives = [
      new (isUnheard ? UnheardArchive : FolderArchive)(join(folder.path, `${app}-a`)),
      new FolderArchive(join(folder.path, `${app}-b`)),
    ];
  }

  get mayHaveTaken(): number {
    return courses.get(String(this.app))?.mayHaveTaken ?? 0;
  }

  /** Lets an attempt run into the hold, and what comes after it to its end. Where it was held; undefined: it was not. */
  async live(at: number, successor: Successor, fate: Fate): Promise<string | undefined> {
    const hold = new Hold(at);
    const scheduled = new Scheduled();
    if (this.#isUnheard && !('retryable' in (await this.#attempt(scheduled, {})))) throw new Error('It was heard.');
    const first = this.#attempt(scheduled, {
      hold,
      losesHeartbeats: fate === 'dies before its last heartbeat is sent',
    });
    const isHeld = await Promise.race([hold.reached.then(() => true), first.then(() => false)]);
    if (!isHeld) {
      const ending = await first;
      if ('failed' in ending) throw ending.failed;
      return undefined;
    }
    this.#wasTaken = this.mayHaveTaken > 0;
    // A reset may come at any moment; that an attempt is lost, Temporal knows only when its time is over.
    if (successor !== 'a reset or a rerun') await delay(attemptMs);
    scheduled.end();
    const outcome = await this.#goOn(successor, scheduled);
    this.#check(hold.where, successor, fate, outcome);
    hold.letGo();
    if (fate === 'comes back when all is over') {
      await first;
      this.#check(hold.where, successor, fate, outcome);
    }
    return hold.where;
  }

  #check(where: string, successor: Successor, fate: Fate, { outcome }: CreateTaskResult): void {
    const { mayHaveTaken } = this;
    const answer = this.#answer;
    // The create record has the request id, or a heartbeat has it where the record takes long.
    const isKnown = where === 'after archive.append' && !successor.endsWith('another archive');
    const isTold = where === 'before archive.append' && successor !== 'a reset or a rerun' && fate !== fates[1];
    if (answer === 'takes it' && this.#wasTaken && (isKnown || isTold) && outcome !== 'accepted') {
      this.wrong.push({ answer, where, successor, fate, outcome });
    }
    // Whoever is told that nothing is paid must be right.
    if (mayHaveTaken > (outcome === 'notSent' ? 0 : 1)) {
      this.wrong.push({ answer, where, successor, fate, outcome, mayHaveTaken });
    }
  }

  async #goOn(successor: Successor, scheduled: Scheduled): Promise<CreateTaskResult> {
    const archive = successor.endsWith('another archive') ? 1 : 0;
    if (successor === 'a reset or a rerun') return await this.#untilOver(new Scheduled(), archive);
    if (successor.startsWith('a server')) return await this.#untilOver(scheduled, archive);
    // As the workflow does: src/workflows/task/create.ts.
    const { archiveId, requestId, isReleased } = scheduled.details ?? {};
    if (requestId !== undefined) return { outcome: 'accepted', requestId };
    if (archiveId !== undefined && isReleased !== true) {
      const found = await this.#untilOver(new Scheduled(), archive, { lost: { archiveId, reason: 'lost' } });
      if (found.outcome !== 'notSent') return found;
      if (this.mayHaveTaken > 0) this.wrong.push({ found, mayHaveTaken: this.mayHaveTaken });
    }
    return await this.#untilOver(new Scheduled(), archive);
  }

  /** As Temporal does: a retryable failure is tried again. */
  async #untilOver(
    scheduled: Scheduled,
    archive: 0 | 1,
    input: Partial<CreateTaskInput> = {},
  ): Promise<CreateTaskResult> {
    for (let attempts = 0; attempts < 5; attempts += 1) {
      const ending = await this.#attempt(scheduled, { archive, input });
      if ('result' in ending) return ending.result;
      if ('failed' in ending) throw ending.failed;
    }
    throw new Error('It is tried without end.');
  }

  async #attempt(
    scheduled: Scheduled,
    {
      archive = 0,
      hold = new Hold(0),
      losesHeartbeats = false,
      input = {},
    }: { archive?: 0 | 1; hold?: Hold; losesHeartbeats?: boolean; input?: Partial<CreateTaskInput> },
  ): Promise<Ending> {
    const service = new ServiceClient({ baseUrl: url, apiKey: 'key', timeouts: { createMs: 2_000 } });
    const attempt = scheduled.begin();
    const attempts = new CreateAttempts({
      service: hold.over(service, 'service'),
      archive: hold.over<Archive>(this.#archives[archive], 'archive'),
      spoolFolder: folder.path,
    });
    try {
      const result = await attempts.run(
        { account: 'default', createNumber: 1, webAppId: this.app, inputs: {}, ...input },
        {
          workflowId: this.#workflowId,
          startToCloseTimeoutMs: attemptMs,
          heartbeatDetails: scheduled.details,
          confirm: hold.over(
            {
              heartbeat: (details: unknown) =>
                new Promise<void>((resolve) => {
                  scheduled.take(attempt, details);
                  resolve();
                }),
            },
            'temporal',
          ).heartbeat,
          onHeartbeat: (details) => {
            try {
              if (!losesHeartbeats) scheduled.take(attempt, details);
            } catch {
              // It counts for nothing any more.
            }
          },
        },
      );
      return { result };
    } catch (error) {
      if (error instanceof ApplicationFailure && error.nonRetryable !== true) return { retryable: error };
      return { failed: error };
    } finally {
      await service.close();
    }
  }
}

let apps = 0;

/** Every await of an attempt, twice: before what it awaits is done, and after. */
async function walk(
  answer: Answer,
  successor: Successor,
  fate: Fate,
  isUnheard: boolean,
): Promise<{ held: string[]; wrong: object[] }> {
  const held: string[] = [];
  const wrong: object[] = [];
  // About as many as there are awaits.
  const width = 28;
  for (let from = 1; ; from += width) {
    const some = await Promise.all(
      Array.from({ length: width }, async (_, index) => {
        const course = new Course((apps += 1), answer, isUnheard);
        const where = await course.live(from + index, successor, fate);
        wrong.push(...course.wrong);
        return where;
      }),
    );
    held.push(...some.filter((where) => where !== undefined));
    if (some.includes(undefined)) return { held, wrong };
  }
}

/** Cuts off an attempt at each of its awaits: what was wrong afterwards, and which await was never reached. */
export async function walkCrashes(
  answer: Answer,
  successor: Successor,
  isUnheard: boolean,
): Promise<readonly { readonly wrong: readonly object[]; readonly missed: readonly string[] }[]> {
  const expected = [
    'before temporal.heartbeat',
    'after temporal.heartbeat',
    'before archive.putIfAbsent',
    'after archive.putIfAbsent',
    'before service.createTask',
    'after service.createTask',
    ...(answer === 'takes it' ? ['before archive.append', 'after archive.append'] : []),
    ...(answer === 'refuses it for now' ? ['before archive.remove', 'after archive.remove'] : []),
  ];
  const walked = await Promise.all(fates.map((fate) => walk(answer, successor, fate, isUnheard)));
  return walked.map(({ held, wrong }) => ({ wrong, missed: expected.filter((where) => !held.includes(where)) }));
}
