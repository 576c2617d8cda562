import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { APPS_FOLDER } from './apps/app-catalog';
import { REFUSALS, type RefusalCode, type RefusalName } from './refusal';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Node's timers fire at once beyond this. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** S3's limit for a signed link. */
const LONGEST_LINK_MS = 7 * DAY_MS;

const durationMs = z.number().min(0).max(LONGEST_TIMER_MS);
const accountSchema = z.strictObject({ id: z.string().min(1), apiKey: z.string().min(8), name: z.string().optional() });
const refusalCodeSchema = z.strictObject({ code: z.int(), httpStatus: z.int().min(400).max(599) });

const optionsSchema = z.strictObject({
  /** Address to listen on. */
  host: z.string().default('127.0.0.1'),
  /** Port to listen on; 0 takes a free one. */
  port: z.int().min(0).max(65_535).default(0),
  /** Who may ask; one account with a random key when none is given. */
  accounts: z
    .array(accountSchema)
    .min(1)
    .default(() => [{ id: 'local', apiKey: `ref-${randomBytes(24).toString('base64url')}` }]),
  /** Folder with the apps' JSON files. */
  appsFolder: z.string().default(APPS_FOLDER),
  /** Tasks that are prepared or run at once. */
  slots: z.int().min(1).default(4),
  /** Tasks that may wait; one more is refused as `queueFull`. */
  queueLimit: z.int().min(0).default(10_000),
  /** Nodes that compute at once, over all tasks. */
  computingNodes: z.int().min(1).default(2),
  /** Least time in each state. */
  timings: z
    .strictObject({
      queueDelayMs: durationMs.default(500),
      preparingMs: durationMs.default(300),
      minimumRunningMs: durationMs.default(1000),
    })
    .prefault({}),
  /** How long temporary upload credentials work. */
  credentialLifetimeMs: durationMs.default(15 * MINUTE_MS),
  /** How long a signed link works; whole seconds, rounded up; at most a week. */
  linkLifetimeMs: z
    .number()
    .min(0)
    .max(LONGEST_LINK_MS)
    .default(60 * MINUTE_MS),
  /** How long a task and its results last after its end. */
  resultLifetimeMs: durationMs.default(15 * DAY_MS),
  /** Ended tasks that are remembered; with more, the oldest expire before their time. */
  keptTasks: z.int().min(1).default(20_000),
  /** Largest input file that can be committed. */
  maxInputBytes: z
    .int()
    .min(1)
    .default(5 * 1024 ** 3),
  /** Bucket for inputs and outputs. */
  bucket: z.string().default('reference-service'),
  /** Region as told to clients; signatures are made for it without the `oss-` prefix. */
  region: z.string().startsWith('oss-').default('oss-cn-shanghai'),
  /** Whether the upload token's `endpoint` carries the scheme or is a bare host. */
  endpointForm: z.enum(['url', 'host']).default('url'),
  /** Whether signed links name the bucket in the path (any client opens them) or in the host. */
  linkStyle: z.enum(['path', 'virtual-host']).default('path'),
  /** State of a task after an interrupt. */
  interruptEndsAs: z.enum(['Canceled', 'Failed']).default('Canceled'),
  /** How callbacks are sent and repeated, and which ends they tell (specification sections 6 and 8). */
  callbacks: z
    .strictObject({
      timeoutMs: durationMs.default(10 * SECOND_MS),
      retryEveryMs: durationMs.default(6 * SECOND_MS),
      maxAttempts: z.int().min(1).default(10),
      statuses: z.array(z.enum(['Success', 'Failed', 'Canceled'])).default(['Success', 'Failed']),
    })
    .prefault({}),
  /** Requests per account: a burst at once, then so many a second. No limit when absent. */
  rateLimit: z.strictObject({ perSecond: z.number().positive(), burst: z.int().min(1) }).optional(),
  /** Size of a page of the resource list. */
  pageSize: z.strictObject({ byDefault: z.int().min(1).default(20), max: z.int().min(1).default(100) }).prefault({}),
  /** Ledger entries that are remembered per endpoint. */
  ledgerEntriesPerEndpoint: z.int().min(1).default(20_000),
  /** Other codes or statuses for some refusals, by name. */
  refusals: z.partialRecord(z.enum(Object.keys(REFUSALS)), refusalCodeSchema.partial()).default({}),
  /** Whether `/` shows apps, queue, tasks and pictures to every client that reaches the service. */
  page: z.boolean().default(true),
  /** Opens the endpoints under `/__control`, for who sends this token as a bearer. */
  controlToken: z.string().min(8).optional(),
});

/** Everything that can be set, all of it optional; the README has the table of defaults and their reasons. */
export type ReferenceServiceSettings = z.input<typeof optionsSchema>;

/** The settings with every default filled in. */
export interface Config extends z.output<typeof optionsSchema> {
  /** Code and status of each refusal. */
  readonly refusalCodes: Readonly<Record<RefusalName, RefusalCode>>;
  /** The region without its `oss-` prefix. */
  readonly signingRegion: string;
}

/** Fills in the defaults. Throws an error that lists every setting that is not in order. */
export function readSettings(settings: ReferenceServiceSettings): Config {
  const parsed = optionsSchema.safeParse(settings);
  if (!parsed.success) throw new Error(`reference service: ${z.prettifyError(parsed.error)}`);
  const changed = new Map(Object.entries(parsed.data.refusals));
  const refusalCodes: Record<RefusalName, RefusalCode> = { ...REFUSALS };
  for (const name of Object.keys(REFUSALS).filter(isRefusalName)) {
    const change = changed.get(name);
    refusalCodes[name] = {
      code: change?.code ?? REFUSALS[name].code,
      httpStatus: change?.httpStatus ?? REFUSALS[name].httpStatus,
    };
  }
  return { ...parsed.data, refusalCodes, signingRegion: parsed.data.region.replace(/^oss-/, '') };
}

function isRefusalName(name: string): name is RefusalName {
  return Object.hasOwn(REFUSALS, name);
}
