import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RowOutput } from '../../../src/archive/row-end';
import { historyLengthsOf } from '../../support/history-lengths';
import { listFiles } from '../../support/list-files';
import type { FaultStack } from '../fault-stack';
import { deaths } from '../promises';
import type { BatchUnderTest } from './batch-under-test';

/** No run of the batch workflow may have more events: less than a tenth of what Temporal allows. */
export const maxEventsOfARun = 4_096;
/** What a batch may leave in the archive: its mark, records of creates and uploads, its own record, outputs and manifests. */
const lasting =
  /^(\.archive-id|\.[a-z]+\/.*\.json|batches\/[^/]+\/(batch\.json|results\.(jsonl|csv)|report\.html|results\/[0-9a-f]+\/[a-z0-9]+\.jsonl|outputs\/[^/]+\/(\d+\.[a-z0-9]+|manifest\.json)))$/;

/** Of a line of the results, what is looked at. */
interface Line {
  readonly key: string;
  readonly status: string;
  readonly requestId: string;
  readonly outputs: readonly RowOutput[];
}

/** The result files as they stand. */
export function resultsOf({ parts }: FaultStack, { id }: BatchUnderTest): { jsonl: string; csv: string } {
  const read = (ending: string): string => readFileSync(join(parts.archive, `batches/${id}/results.${ending}`), 'utf8');
  return { jsonl: read('jsonl'), csv: read('csv') };
}

/** What of the promises does not hold for a batch that is over, in words; nothing when all of it holds. */
export async function brokenPromisesOfBatch(stack: FaultStack, batch: BatchUnderTest): Promise<string[]> {
  const { jsonl, csv } = resultsOf(stack, batch);
  const lines = jsonl
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
  return [
    ...paidOtherThanOnce(stack, batch, lines),
    ...wrongResults(batch, lines, csv),
    ...lines.flatMap(lost),
    ...leftovers(stack, batch),
    ...deaths(stack),
    ...(await longRuns(stack, batch)),
  ];
}

function paidOtherThanOnce(stack: FaultStack, batch: BatchUnderTest, lines: readonly Line[]): string[] {
  const accepted = batch.acceptedCreates();
  const total = [...accepted.values()].flat().length;
  const wrong = lines.flatMap(({ key, requestId }) => {
    const creates = accepted.get(batch.rowWorkflowId(key)) ?? [];
    if (creates.length !== 1)
      return [`${key}: was created ${creates.length} times; ${traceOf(stack, batch.rowWorkflowId(key))}`];
    return creates[0] === requestId ? [] : [`${key}: has the results of ${requestId}, not of ${creates[0] ?? ''}`];
  });
  const open = [...accepted.values()].flat().filter((id) => stack.parts.service.tasks.find(id)?.isEnded !== true);
  return [
    ...(total === batch.rows ? [] : [`${total} creates for ${batch.rows} rows`]),
    ...wrong,
    ...open.map((id) => `${id} still runs at the service`),
  ];
}

/** When the service was asked to create this, and what the archive's records say of it. */
function traceOf({ parts }: FaultStack, workflowId: string): string {
  const asked = parts.service.ledger.entries({ endpoint: 'create', correlation: workflowId });
  const records = listFiles(join(parts.archive, '.creates'))
    .map((file) => readFileSync(join(parts.archive, '.creates', file), 'utf8'))
    .filter((text) => text.includes(`"${workflowId}"`));
  return JSON.stringify({ asked: asked.map(({ at, status, requestId }) => ({ at, status, requestId })), records });
}

function wrongResults({ keys }: BatchUnderTest, lines: readonly Line[], csv: string): string[] {
  const isInOrder = (found: readonly (string | undefined)[]): boolean =>
    found.length === keys.length && found.every((key, index) => key === keys[index]);
  const [header = [], ...rowsOfCsv] = csv
    .trimEnd()
    .split('\n')
    .map((row) => row.split(','));
  const keyColumn = header.indexOf('key');
  return [
    ...(isInOrder(lines.map(({ key }) => key)) ? [] : ['results.jsonl does not have the rows in their order']),
    ...(isInOrder(rowsOfCsv.map((row) => row[keyColumn])) ? [] : ['results.csv does not have the rows in their order']),
    ...lines.filter(({ status }) => status !== 'Success').map((line) => `did not succeed: ${JSON.stringify(line)}`),
  ];
}

/** The output that the results name is in the archive, byte for byte. */
function lost({ key, outputs }: Line): string[] {
  if (outputs.length !== 1) return [`${key}: has ${outputs.length} outputs`];
  return outputs.flatMap(({ path, sha256 }) => {
    if (!existsSync(path)) return [`${key}: lost ${path}`];
    const isWhole = createHash('sha256').update(readFileSync(path)).digest('hex') === sha256;
    return isWhole ? [] : [`${key}: ${path} is not what its hash says`];
  });
}

function leftovers({ parts: { archive } }: FaultStack, { rows }: BatchUnderTest): string[] {
  const files = listFiles(archive);
  const outputs = files.filter((file) => file.includes('/outputs/') && !file.endsWith('/manifest.json'));
  return [
    ...files.filter((file) => !lasting.test(file)).map((file) => `${file} was left in the archive`),
    ...(outputs.length === rows ? [] : [`${outputs.length} outputs in the archive for ${rows} rows`]),
  ];
}

async function longRuns({ parts: { client } }: FaultStack, { workflowId }: BatchUnderTest): Promise<string[]> {
  const lengths = await historyLengthsOf(client, workflowId);
  return lengths
    .filter((length) => length > maxEventsOfARun)
    .map((length) => `a run of the batch has ${length} events`);
}
