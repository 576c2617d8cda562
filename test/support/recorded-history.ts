import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporal } from '@temporalio/proto';

const { History } = temporal.api.history.v1;

/** A workflow whose histories are recorded. */
export type RecordedWorkflow = 'task' | 'batch' | 'account-day' | 'sweep' | 'webhook';

/** Where the recorded histories of a workflow are. */
export function historyFolder(workflow: RecordedWorkflow): string {
  return join(__dirname, '../replay/histories', workflow);
}

/** A history as JSON: enumerations by name, 64-bit numbers as text, payloads in base64. */
export interface RecordedHistory {
  readonly events: readonly unknown[];
}

/** The names of the recorded histories, without their ending. */
export function recordedNames(workflow: RecordedWorkflow = 'task'): string[] {
  return readdirSync(historyFolder(workflow))
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.replace(/\.json$/, ''))
    .sort();
}

/** Of a task that another client started with a retry policy, which made its second run. */
export const historyOfRetriedRun = 'retried-run';

/** The text of a recorded history. */
function historyText(name: string, workflow: RecordedWorkflow): string {
  return readFileSync(join(historyFolder(workflow), `${name}.json`), 'utf8');
}

/** A recorded history, followed by what its payloads hold. */
function legibleText(name: string, workflow: RecordedWorkflow): string {
  const text = historyText(name, workflow);
  const payloads = [...text.matchAll(/"data":"([^"]*)"/g)].map(([, data = '']) =>
    Buffer.from(data, 'base64').toString(),
  );
  return [text, ...payloads].join('\n');
}

const machineWords: readonly RegExp[] = [
  /"identity":"(?!longhaul")[^"]*/g,
  /\d+@[\w.-]+|node_modules|\.[jt]s:\d+|file:\/\/|"\/(?:home|root|tmp|usr|var|work)\b/g,
  /test-/g,
];

/** What a recorded history says of the machine that it was recorded on; it should be nothing. */
export function machineWordsIn(name: string, workflow: RecordedWorkflow = 'task'): string[] {
  const text = legibleText(name, workflow);
  return machineWords.flatMap((words) => text.match(words) ?? []);
}

/** Reads a recorded history; each time a new object, which the caller may alter. */
export function readHistory(name: string, workflow: RecordedWorkflow = 'task'): RecordedHistory {
  return JSON.parse(historyText(name, workflow)) as RecordedHistory;
}

/** Words of this machine that stand in a history: who worked on it, and where its code lies. */
const machineKeys: Readonly<Record<string, string>> = { identity: 'longhaul', stackTrace: '' };
const testTaskQueue = /^test-[0-9a-f-]{36}/;
const workerIdentity = /^\d+@/;

/** The same without a word about the machine it was recorded on. */
function withoutMachine(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutMachine);
  if (typeof value === 'string') {
    return workerIdentity.test(value) ? 'longhaul' : value.replace(testTaskQueue, 'longhaul');
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, machineKeys[key] ?? withoutMachine(one as unknown)]),
  );
}

/** The history as the worker replays it. */
export function toHistory(recorded: RecordedHistory): temporal.api.history.v1.IHistory {
  return History.fromObject(recorded);
}

/** The text to record, without a word about this machine. One event a line: recorded anew, it shows which changed. */
export function toText(recorded: readonly temporal.api.history.v1.IHistoryEvent[]): string {
  const whole = History.fromObject({ events: recorded });
  const { events } = withoutMachine(
    History.toObject(whole, { enums: String, longs: String, bytes: String }),
  ) as RecordedHistory;
  return `{"events":[\n${events.map((event) => JSON.stringify(event)).join(',\n')}\n]}\n`;
}
