import { randomBytes, randomUUID } from 'node:crypto';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { temporal } from '@temporalio/proto';
import { encryptedEncoding } from '../../src/contract/encryption';
import { batchWorkflowId, rowWorkflowId, taskWorkflowId } from '../../src/contract/workflow-ids';
import { findTemporalProgram } from '../../tools/find-temporal';
import type { SupervisedProcess } from '../../tools/supervise';
import { newCodecKey, writeCodecKeys } from '../support/codec-keys';
import { type Evidence, filesOf, textsOf } from '../support/evidence';
import { findForbidden, type Forbidden } from '../support/find-forbidden';
import { ProcessStack } from '../support/process-stack';
import { type CommandEnd, runLonghaul, runToEnd } from '../support/run-longhaul';
import { photoFolder } from '../support/task-stack';

type Event = temporal.api.history.v1.IHistoryEvent;

const mark = randomBytes(8).toString('hex');
const fileName = `portrait-${mark}.jpg`;
const prompt = `a letter to ${mark}`;
/** The service quotes it when it refuses it. */
const badInput = `colour-${mark}`;
const forbidden: readonly Forbidden[] = [
  { name: 'what only inputs and their failures hold', what: mark },
  { name: 'the name of an input', what: /LoadImage|Text Watermark/ },
  { name: 'the word of a failure', what: /no such parameter/ },
  { name: 'the name of an output', what: /manifest\.json/ },
];
const postcard = '6';
const firstKey = newCodecKey();

let stack: ProcessStack;
/** The environment of the stack with a key. */
let encrypting: NodeJS.ProcessEnv;

beforeAll(async () => {
  stack = await ProcessStack.open();
  copyFileSync(join(photoFolder, 'rocket.jpg'), join(stack.inputs, fileName));
  const file = writeCodecKeys(join(stack.inputs, '..'), { first: firstKey });
  encrypting = { ...stack.env, LONGHAUL_CODEC_KEYS_FILE: file };
});
afterAll(() => stack.close());

/** Everything that Temporal has of workflows, as it has it: no codec decodes it. */
async function kept(...workflowIds: readonly string[]): Promise<Evidence[]> {
  const { workflowService } = stack.client;
  const of = async (workflowId: string): Promise<Evidence[]> => {
    const asked = { namespace: 'default', execution: { workflowId } };
    const described = await workflowService.describeWorkflowExecution(asked);
    const own = workflowId.split(':').length === 2 && workflowId.startsWith('batch:') ? 'progress' : 'status';
    const queries = [own, '__temporal_workflow_metadata'].map((queryType) =>
      workflowService.queryWorkflow({ ...asked, query: { queryType } }),
    );
    return textsOf([await eventsOf(workflowId), described, await Promise.all(queries)], workflowId);
  };
  return (await Promise.all(workflowIds.map(of))).flat();
}

async function eventsOf(workflowId: string): Promise<Event[]> {
  const { events } = await stack.client.workflow.getHandle(workflowId).fetchHistory();
  return events ?? [];
}

function run(env: NodeJS.ProcessEnv, ...args: string[]): Promise<CommandEnd> {
  return runLonghaul(args, env);
}

function runPostcard(key: string, ...more: string[]): Promise<CommandEnd> {
  const file = `1:LoadImage.image=@${join(stack.inputs, fileName)}`;
  const queue = ['--task-queue', stack.taskQueue];
  const inputs = ['-i', file, '-s', `3:Text Watermark.text=${prompt}`];
  return run(encrypting, 'run', postcard, '--key', key, ...inputs, ...queue, ...more);
}

describe('where payloads are encrypted', () => {
  const [good, bad, batchId] = ['good', 'bad', 'batch'].map((name) => `${name}-${randomUUID()}`) as [
    string,
    string,
    string,
  ];
  const rows = ['row-1', 'row-2'] as const;
  const workflowIds = [
    ...[good, bad].map(taskWorkflowId),
    batchWorkflowId(batchId),
    ...rows.map((row) => rowWorkflowId(batchId, row)),
  ];
  const ends: Record<string, CommandEnd> = {};
  let worker: SupervisedProcess;

  beforeAll(async () => {
    worker = await stack.startWorker(encrypting);
    ends['good'] = await runPostcard(good, '--json');
    ends['bad'] = await runPostcard(bad, '-s', `3:Text Watermark.${badInput}=1`);
    const file = join(stack.inputs, `${mark}.jsonl`);
    const inputs = { '1:LoadImage.image': { file: fileName }, '3:Text Watermark.text': prompt };
    const lines = [
      { key: rows[0], ...inputs },
      { key: rows[1], ...inputs, [`3:Text Watermark.${badInput}`]: 1 },
    ];
    writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const args = [file, '--app', postcard, '--id', batchId, '--task-queue', stack.taskQueue];
    ends['batch'] = await run(encrypting, 'batch', 'run', ...args);
  });
  afterAll(() => worker.stop());

  it('tasks and batches run as they do otherwise, and so do those that fail', () => {
    expect(ends['good']).toMatchObject({ exitCode: 0 });
    expect(ends['bad']).toMatchObject({ exitCode: 3, stderr: expect.stringContaining(badInput) as string });
    expect(ends['batch']).toMatchObject({ exitCode: 3 });
    expect(ends['batch']?.stdout).toMatch(/succeeded +1 .*failed +1 {2}1 TaskRejected/s);
  });

  it('no prompt, no file name, no name of an input and no message of a failure is in what Temporal keeps', async () => {
    const evidence = await kept(...workflowIds);
    expect(findForbidden(evidence, forbidden)).toEqual([]);
    // The search looked at what it should: at starts, failures, memos, summaries and answers.
    const places = evidence.map(({ where }) => where).join('\n');
    for (const place of [
      'input.payloads',
      'failure.encodedAttributes',
      'memo.fields',
      'userMetadata.summary',
      'queryResult',
    ]) {
      expect(places).toContain(place);
    }
    expect(evidence.map(({ text }) => text)).toContain('Encoded failure');
    expect(findForbidden(filesOf(stack.archive), forbidden)).not.toEqual([]);
  });

  it('nothing else of an encoding is in it than search attributes and Temporal’s own markers', async () => {
    const plain = (await kept(...workflowIds)).filter(
      ({ where, text }) => where.endsWith('metadata.encoding') && text !== encryptedEncoding,
    );
    const unexpected = plain.filter(
      ({ where }) =>
        !/searchAttributes\.indexedFields|markerRecordedEventAttributes\.details\.(data|patch-data|patch_id)/.test(
          where,
        ),
    );
    expect(plain.length).toBeGreaterThan(0);
    expect(unexpected).toEqual([]);
  });

  it('the key is nowhere: in what Temporal keeps, logs, the archive or what commands print', async () => {
    const logs = stack.logFiles.map((file) => ({ where: file, text: readFileSync(file, 'utf8') }));
    const evidence = [
      ...(await kept(...workflowIds)),
      ...logs,
      ...filesOf(stack.archive),
      ...textsOf(ends, 'a command'),
    ];
    const bytes = Buffer.from(firstKey, 'base64').toString('latin1');
    const secrets = [firstKey, firstKey.replace(/=+$/, ''), bytes].map((what) => ({ name: 'the key', what }));
    expect(findForbidden(evidence, secrets)).toEqual([]);
    expect(logs[0]?.text).toContain('"encryptsWith":"first"');
  });

  it('every command reads what it needs: status, list, batch status, replay, and the same key again', async () => {
    const status = await run(encrypting, 'status', bad);
    expect(status.stdout).toContain(badInput);
    expect((await run(encrypting, 'list', '--key-prefix', good)).stdout).toContain(good);
    expect((await run(encrypting, 'batch', 'status', batchId)).stdout).toMatch(
      new RegExp(`2 of 2 ended.*${badInput}`, 's'),
    );
    const again = await runPostcard(good, '--json');
    expect(JSON.parse(again.stdout)).toMatchObject({
      status: 'Success',
      manifest: expect.stringContaining('manifest') as string,
    });
    const replay = await run(encrypting, 'replay', '--query', `TaskQueue = "${stack.taskQueue}"`, '--json');
    expect(JSON.parse(replay.stdout)).toMatchObject({ isOk: true, closed: workflowIds.length, failed: 0 });
    expect(stack.service.ledger.entries({ endpoint: 'create' })).toHaveLength(4);
  });

  it('a command without the key says which one is missing, and lists all the same', async () => {
    const status = await run(stack.env, 'status', good);
    expect(status.exitCode).toBe(2);
    expect(status.stderr).toMatch(
      /LONGHAUL_CODEC_KEYS_FILE is not set, but a payload is encrypted with the key "first"/,
    );
    expect((await run(stack.env, 'list', '--key-prefix', good)).stdout).toContain(good);
    expect((await run(stack.env, 'batch', 'list')).stdout).toContain(batchId);
    const replay = await run(stack.env, 'replay', '--query', `TaskQueue = "${stack.taskQueue}"`);
    expect(replay.exitCode).toBe(2);
    expect(replay.stderr).toMatch(
      /LONGHAUL_CODEC_KEYS_FILE is not set, but a payload is encrypted with the key "first"; give it\. It is one of (task|batch):/,
    );
    expect(`${replay.stdout}${replay.stderr}`).not.toMatch(/roll it out|Details:/);
  });

  describe('a codec server', () => {
    const token = `token-${randomBytes(16).toString('hex')}`;
    let endpoint = '';
    let server: SupervisedProcess;
    beforeAll(async () => {
      server = await stack.startCodecServer({
        ...encrypting,
        LONGHAUL_CODEC_ADDRESS: '127.0.0.1:0',
        LONGHAUL_CODEC_TOKEN: token,
      });
      const started =
        server
          .output()
          .split('\n')
          .find((line) => line.includes('codec server started')) ?? '';
      endpoint = `http://127.0.0.1:${String((JSON.parse(started) as { port: number }).port)}`;
    });

    async function show(...auth: string[]): Promise<CommandEnd> {
      const { path: command } = await findTemporalProgram();
      const address = ['--address', stack.env['TEMPORAL_ADDRESS'] ?? ''];
      const args = ['workflow', 'show', '--workflow-id', taskWorkflowId(bad), '--output', 'json', ...address];
      return await runToEnd(
        { command, args: [...args, '--codec-endpoint', `${endpoint}/{namespace}`, ...auth] },
        { timeout: 200_000 },
      );
    }

    it('lets Temporal’s own command line read a history, messages of failures too, for who has the token', async () => {
      const shown = await show('--codec-auth', `Bearer ${token}`);
      expect(shown.exitCode).toBe(0);
      expect(readingsOf(shown.stdout)).toContain(prompt);
      expect(readingsOf(shown.stdout)).toContain(badInput);
      const refused = await show();
      expect(readingsOf(`${refused.stdout}${refused.stderr}`)).not.toContain(mark);
    });

    it('logs who asked, and no token, no key and nothing that it decrypted', async () => {
      await server.stop();
      const log = server.output();
      expect(log).toContain('"outcome":"decoded","httpStatus":200,"namespace":"default"');
      expect(log).toContain('"outcome":"wrong token"');
      const secrets = [...forbidden, { name: 'the token', what: token }, { name: 'the key', what: firstKey }];
      expect(findForbidden([{ where: 'the log', text: log }], secrets)).toEqual([]);
      expect(log).toContain('codec server stopped');
    });
  });
});

/** The text and what the base64 in it says. */
function readingsOf(text: string): string {
  const decoded = (text.match(/[A-Za-z0-9+/]{16,}={0,2}/g) ?? []).map((run) => Buffer.from(run, 'base64').toString());
  return [text, ...decoded].join('\n');
}
