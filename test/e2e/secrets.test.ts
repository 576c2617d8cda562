import { randomBytes, randomUUID } from 'node:crypto';
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import type { EndpointName } from '../../reference-service/endpoint-name';
import { parseScenario, type ScenarioInput } from '../../reference-service/scenarios/scenario';
import { recordCredentials } from '../faults/leaked-secrets';
import { descriptionOf, type Evidence, filesOf, historyOf, metadataOf, textsOf } from '../support/evidence';
import { eventually } from '../support/eventually';
import { findForbidden, type Forbidden, urlsOf } from '../support/find-forbidden';
import { ProcessStack } from '../support/process-stack';
import type { CommandEnd } from '../support/run-longhaul';
import { photoFolder } from '../support/task-stack';
import { TraceSink } from '../support/trace-sink';
import { WebhookReceiver } from '../support/webhook-receiver';

const pollEveryMs = 100;
const collectorKey = `collector-${randomBytes(16).toString('hex')}`;
const wrongKey = `wrong-${randomBytes(16).toString('hex')}`;
/**
 * What goes wrong on the way, one fault a request: whatever a reply held must not be in the failure that tells of it.
 * Those of `outputs` all meet the one task that succeeds at once: links that have expired are told of only when asking
 * anew did not help.
 */
const faults: Partial<Record<EndpointName, ScenarioInput[]>> = {
  'upload-token': [{ name: 'cut-body' }, { name: 'expired-credentials' }, { name: 'answer-error' }],
  commit: [{ name: 'cut-body' }, { name: 'rubbish', as: 'json' }],
  list: [{ name: 'cut-body' }, { name: 'rubbish', as: 'json' }],
  detail: [{ name: 'cut-body' }, { name: 'answer-error' }],
  outputs: [
    ...Array.from({ length: 3 }, (): ScenarioInput => ({ name: 'expired-links' })),
    ...[{ name: 'cut-body' } as const, { name: 'answer-error' } as const],
  ],
};

let stack: ProcessStack;
let sink: TraceSink;
let receiver: WebhookReceiver;
/** Every credential that the service ever hands out. */
let credentials: readonly string[];
const commands: Record<string, CommandEnd> = {};
const inHistories: Evidence[] = [];
const elsewhere: Evidence[] = [];

/** A minute alone; the commands of many tasks take longer beside other suites. */
const longestMs = 300_000;

beforeAll(async () => {
  [stack, sink, receiver] = await Promise.all([ProcessStack.open(), TraceSink.start(), WebhookReceiver.start()]);
  Object.assign(stack.env, {
    LONGHAUL_TRACES_OTLP_URL: sink.url,
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${collectorKey}`,
  });
  credentials = recordCredentials(stack.service);
  orderTroubles();
  copyFileSync(join(photoFolder, 'rocket.jpg'), join(stack.inputs, 'rocket.jpg'));
  const accountsFile = join(stack.inputs, '..', 'accounts.json');
  writeFileSync(accountsFile, JSON.stringify({ stranger: { apiKey: wrongKey } }));
  const webhooksFile = join(stack.inputs, '..', 'webhooks.json');
  writeFileSync(webhooksFile, receiver.config);
  receiver.status = 500;
  await stack.startWorker({
    ...{ ...stack.env, LONGHAUL_ACCOUNTS_FILE: accountsFile, LONGHAUL_WEBHOOKS_FILE: webhooksFile },
  });
  const sampler = setInterval(() => void sampleDescriptions(), pollEveryMs);
  await runEverything().finally(() => {
    clearInterval(sampler);
  });
  await gather();
}, longestMs);
afterAll(async () => {
  await stack.close();
  await sink.close();
  await receiver.close();
});

/** Rules of the scenario book would all meet the first request of their endpoint. */
function orderTroubles(): void {
  const { scenarios, tasks } = stack.service;
  const take = scenarios.take.bind(scenarios);
  scenarios.take = (facts) => {
    const { endpoint, requestId } = facts;
    const hasOutputs = tasks.find(requestId ?? '')?.request.app.webAppId === 1;
    const next = endpoint !== 'outputs' || hasOutputs ? faults[endpoint]?.shift() : undefined;
    return next === undefined ? take(facts) : [parseScenario(next)];
  };
}

const keys = ['success', 'failure', 'half', 'rejection', 'stranger', 'stopped', 'uncertain'].map(
  (name) => `${name}-${randomUUID()}`,
);

const batchId = `rows-${randomUUID()}`;

/** The workflow of the task with this name. */
function workflowOf(name: string): WorkflowHandle {
  return stack.client.workflow.getHandle(`task:${keyOf(name)}`);
}

function keyOf(name: string): string {
  return keys.find((key) => key.startsWith(name)) ?? '';
}

async function run(name: string, ...args: string[]): Promise<void> {
  const photo = '1:LoadImage.image=@' + join(stack.inputs, 'rocket.jpg');
  const queue = ['--task-queue', stack.taskQueue];
  commands[name] = await stack.run('run', ...args, '--key', keyOf(name), '-i', photo, ...queue);
}

async function runEverything(): Promise<void> {
  await Promise.all([
    run('success', '1', '--json', '--webhook', 'orders'),
    run('failure', '3'),
    run('half', '10', '--json'),
    run('rejection', '1', '-i', '2:ImageScale.colour=red', '--json'),
    run('stranger', '1', '--account', 'stranger', '--deadline-total', '5s'),
    runAndStop(),
  ]);
  stack.service.scenarios.add({ endpoint: 'create', scenario: { name: 'drop-reply' } });
  await run('uncertain', '1', '--json');
  const [unheard] = stack.service.ledger.entries({ endpoint: 'create', status: null });
  commands['adopt'] = await stack.run('resolve', keyOf('uncertain'), '--adopt', unheard?.requestId ?? '');
  commands['status'] = await stack.run('status', keyOf('uncertain'), '--follow', '--json');
  await runBatch();
  commands['list'] = await stack.run('list', '--limit', '100');
  const { outputs } = JSON.parse(commands['success']?.stdout ?? '') as { outputs: { path: string }[] };
  rmSync(outputs[0]?.path ?? '');
  stack.service.scenarios.add({ endpoint: 'detail', scenario: { name: 'answer-error' } });
  commands['sweep'] = await stack.run('sweep', 'run', '--task-queue', stack.taskQueue);
}

/** Its rows are tasks of their own; what they tell the batch stands in the batch's history. */
async function runBatch(): Promise<void> {
  const file = join(stack.inputs, `${batchId}.jsonl`);
  const photo = { '1:LoadImage.image': { file: 'rocket.jpg' } };
  const rows = [
    { key: 'good', ...photo },
    { key: 'bad', ...photo, '2:ImageScale.colour': 'red' },
  ];
  writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  commands['batch'] = await stack.run('batch', 'run', file, '--app', '1', '--task-queue', stack.taskQueue);
}

async function runAndStop(): Promise<void> {
  await run('stopped', '2', '--detach');
  commands['stop'] = await stack.run('stop', keyOf('stopped'), '--wait');
}

/** Heartbeats and failures of activities show only while they are pending. */
async function sampleDescriptions(): Promise<void> {
  await Promise.all(
    keys.map(async (key) => {
      const sample = await descriptionOf(stack.client.workflow.getHandle(`task:${key}`)).catch(() => []);
      inHistories.push(...sample);
    }),
  );
}

/** The delivery of the one webhook, whose first attempt was refused. */
async function whenDelivered(): Promise<WorkflowHandle> {
  const { workflowId } = workflowOf('success');
  const received = await eventually(() => receiver.of(workflowId)[0], { what: 'the first attempt' });
  const delivery = stack.client.workflow.getHandle(`webhook:${workflowId}:${received?.id ?? ''}`);
  inHistories.push(...(await descriptionOf(delivery)));
  receiver.status = 204;
  await delivery.result();
  return delivery;
}

async function gather(): Promise<void> {
  const ofBatch = [`batch:${batchId}`, `batch:${batchId}:good`, `batch:${batchId}:bad`];
  const { newest } = await stack.longhaul.sweeps.status();
  const batch = [...ofBatch, newest?.workflowId ?? ''].map((workflowId) => stack.client.workflow.getHandle(workflowId));
  for (const workflow of [...keys.map(workflowOf), ...batch, await whenDelivered()]) {
    inHistories.push(
      ...(await historyOf(workflow)),
      ...(await descriptionOf(workflow)),
      ...(await metadataOf(workflow)),
    );
  }
  elsewhere.push(...stack.logFiles.map((file) => ({ where: 'the worker’s log', text: readFileSync(file, 'utf8') })));
  await eventually(() => sink.spans.some(({ name }) => name === 'RunWorkflow:batch'), { what: 'the last spans' });
  elsewhere.push(...filesOf(stack.archive), ...textsOf(commands, 'the command'), ...sink.evidence);
}

/** `host:port` of the service and, in each form that it is named in, of its storage. */
function hosts(): string[] {
  const { storage, proxy, service } = stack;
  return [new URL(service.url).host, `127.0.0.1:${storage.port}`, `127.0.0.1:${proxy.port}`, storage.virtualDomain];
}

function secrets(): Forbidden[] {
  return [
    { name: 'the API key', what: stack.service.apiKey },
    { name: 'the wrong API key', what: wrongKey },
    { name: 'the key of the collector', what: collectorKey },
    { name: 'the secret of the webhook', what: receiver.secret.slice('whsec_'.length) },
    { name: 'the path of the webhook', what: receiver.pathToken },
    ...credentials.map((what) => ({ name: 'a temporary credential', what })),
    { name: 'the storage’s root key', what: stack.storage.rootSecretAccessKey },
    { name: 'the name of the storage’s root key', what: stack.storage.rootAccessKeyId },
    { name: 'a signature', what: /X-Amz-Signature|X-Amz-Credential|\bSignature=/i },
    { name: 'a bearer token', what: /Bearer\s+(?!\[redacted\])\S/i },
  ];
}

describe('after a success, failures, a rejection, a wrong key, a stop, an uncertain create, and faults on the way', () => {
  it('every task ended as it should, and every fault was met', () => {
    const expected: Record<string, number> = {
      ...{ success: 0, failure: 3, half: 3, rejection: 3, stranger: 3, stopped: 0, stop: 4, sweep: 5 },
      ...{ uncertain: 5, adopt: 0, status: 0, list: 0, batch: 3 },
    };
    // Shows all of a command that ended otherwise.
    expect(Object.entries(commands).filter(([name, { exitCode }]) => exitCode !== expected[name])).toEqual([]);
    expect(Object.keys(commands).sort()).toEqual(Object.keys(expected).sort());
    expect(commands['batch']?.stdout).toMatch(/succeeded +1 .*failed +1 {2}1 TaskRejected/s);
    expect(Object.values(faults).flat()).toEqual([]);
  });

  it('no secret is anywhere: histories, descriptions, live details, logs, traces, the archive, the commands’ output', () => {
    expect(credentials.length).toBeGreaterThanOrEqual(3 * keys.length);
    expect(findForbidden([...inHistories, ...elsewhere], secrets())).toEqual([]);
  });

  it('the log tells of each request to the service, and of none its query, headers or body', () => {
    const lines = stack.logFiles
      .flatMap((file) => readFileSync(file, 'utf8').trim().split('\n'))
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ msg }) => msg === 'request to the service');
    const known = [
      ...['level', 'time', 'trace_id', 'span_id', 'account', 'method', 'path', 'requestId', 'status', 'durationMs'],
      ...['fault', 'keyRefused', 'msg'],
    ];
    expect(new Set(lines.flatMap((line) => Object.keys(line)))).toEqual(new Set(known));
    expect(lines.filter(({ path }) => !/^\/[wx]\/v1\/[a-z_/]+$/.test(String(path)))).toEqual([]);
    const creates = lines.filter(({ path }) => path === '/w/v1/webapp/task/openapi/create');
    const inLedger = stack.service.ledger.entries({ endpoint: 'create' });
    expect(creates.map(({ status }) => status).sort()).toEqual(inLedger.map(({ status }) => status).sort());
    expect(creates).toContainEqual(expect.objectContaining({ method: 'POST', status: null, fault: 'unreachable' }));
    const { requestId } = JSON.parse(commands['success']?.stdout ?? '') as Record<string, unknown>;
    expect(lines).toContainEqual(
      expect.objectContaining({ method: 'GET', requestId, status: 200, account: 'default' }),
    );
  });

  it('no URL of the service or its storage is in a history, and none with a query anywhere', () => {
    const anyUrl = { name: 'a URL of the service', what: urlsOf(hosts(), { query: false }) };
    const signedUrl = { name: 'a URL with a query', what: urlsOf(hosts(), { query: true }) };
    expect(findForbidden(inHistories, [anyUrl])).toEqual([]);
    expect(findForbidden(elsewhere, [signedUrl])).toEqual([]);
  });
});

describe('the search itself', () => {
  const found = (evidence: Evidence[]): string[] => {
    return findForbidden(evidence, [...secrets(), { name: 'a URL', what: urlsOf(hosts(), { query: false }) }]);
  };

  it('looked at histories with their payloads, at failures, heartbeats and summaries, at logs, traces and the archive', () => {
    const fromTemporal = [
      ...['2:ImageScale.colour', 'TaskRejected', '"transfer":"upload"', 'Archive the outputs'],
      ...['### Success', '### Ended', '"batches/', '### Delivered'],
    ];
    const fromFiles = [
      ...['RunActivity:storeInput', 'download', 'TaskRejected', 'worker started', 'request to the service'],
      ...['"manifestVersion"', '"sentAt"', 'IHDR'],
    ];
    const isSeen = (evidence: readonly Evidence[], text: string): boolean =>
      evidence.some((one) => one.text.includes(text));
    expect(fromTemporal.filter((text) => !isSeen(inHistories, text))).toEqual([]);
    expect(fromFiles.filter((text) => !isSeen(elsewhere, text))).toEqual([]);
  });

  it.each<[string, (secret: string) => unknown]>([
    ['as it is', (secret) => ({ planted: secret })],
    ['in base64', (secret) => ({ planted: Buffer.from(`key: ${secret}`).toString('base64') })],
    ['as the name of a field', (secret) => ({ [secret]: 1 })],
  ])('finds a key in the payload of a history, %s', async (_how, plant) => {
    const workflow = await stack.client.workflow.start('task', {
      taskQueue: stack.taskQueue,
      workflowId: `task:${randomUUID()}`,
      args: [plant(stack.service.apiKey)],
    });
    await expect(workflow.result()).rejects.toThrow('Workflow execution failed');
    const evidence = await historyOf(workflow);
    expect(found(evidence)[0]).toMatch(/^the API key in task:.* event 1 /);
  });

  it('finds a credential, a signed link and a URL of the storage in a line of a log', () => {
    const [, secret = ''] = credentials;
    const link = `${stack.storage.virtualDomain}/a.png?X-Amz-Signature=ab12`;
    const line = (text: string): Evidence[] => [{ where: 'a log', text: JSON.stringify({ msg: text }) }];
    expect(found(line(`upload with ${secret} failed`))).toEqual(['a temporary credential in a log']);
    expect(found(line(`got https://bucket.${link}`))).toEqual(['a signature in a log', 'a URL in a log']);
    expect(found(line('Authorization: Bearer abc'))).toEqual(['a bearer token in a log']);
  });
});
