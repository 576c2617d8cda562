import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { Longhaul } from '../../src/client/longhaul';
import type { TaskHandle } from '../../src/client/task/task-handle';
import { isPublicAddress } from '../../src/storage/connection-rule';
import { eventually } from '../support/eventually';
import { replyJson, type ReceivedRequest, startHttpServer, type TestHttpServer } from '../support/start-http-server';
import { fastTuning } from '../support/task-environment';
import { photoFolder, TaskStack } from '../support/task-stack';

/** What an operator of the worker runs beside it, for machines of the own network. */
let internal: Server;
let internalPort: number;
let internalConnections = 0;
let rogue: TestHttpServer;
let stack: TaskStack;
let longhaul: Longhaul;
/** Where the service leads the worker to, by request id or by the name of an input. */
const aims = new Map<string, string>();

beforeAll(async () => {
  internal = createServer((_request, response) => response.end('GIF89a: internal'));
  internal.on('connection', () => (internalConnections += 1));
  internal.listen(0, '0.0.0.0');
  await once(internal, 'listening');
  internalPort = (internal.address() as AddressInfo).port;
  rogue = await startHttpServer(answer);
  stack = await TaskStack.open({ env: { LONGHAUL_SERVICE_URL: rogue.url } });
  longhaul = new Longhaul({ client: stack.client, taskQueue: stack.taskQueue });
});
afterAll(async () => {
  await stack.close();
  await rogue.close();
  internal.closeAllConnections();
  internal.close();
});

/** A service whose links, redirects and upload tokens lead where the test says. */
function answer({ url }: ReceivedRequest, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(url, 'http://service');
  const data = (data: object): void => {
    replyJson(response, 200, { code: 20000, message: 'Ok', status: true, data });
  };
  const requestId = searchParams.get('requestId') ?? '';
  if (pathname.startsWith('/hop/')) response.writeHead(302, { location: aims.get(pathname.slice(5)) }).end();
  else if (pathname.endsWith('/upload/token')) {
    const file = { access_key_id: 'id', access_key_secret: 'secret', security_token: 'token', object_key: 'inputs/a' };
    data({ file, storage: { endpoint: aims.get('token'), bucket: 'b', region: 'r' } });
  } else if (pathname.endsWith('/input_resource')) data({ list: [], total: 0 });
  else if (pathname.endsWith('/detail')) data({ status: 'Success', cost_times: {} });
  else if (pathname.endsWith('/outputs')) {
    const item = { output_ext: '.png', cost_time: 1, audit_status: 2, error_type: 'NOT_ERROR' };
    data({
      request_id: requestId,
      status: 'Success',
      outputs: [
        { ...item, object_url: aims.get(requestId) },
        { ...item, object_url: `${rogue.url}/hop/${requestId}` },
      ],
    });
  } else replyJson(response, 500, {});
}

async function adopt(aim: string, { client, taskQueue }: Pick<TaskStack, 'client' | 'taskQueue'>): Promise<TaskHandle> {
  const requestId = randomUUID();
  aims.set(requestId, aim);
  const { workflowId } = await client.workflow.start('task', {
    taskQueue,
    workflowId: `task:${randomUUID()}`,
    workflowExecutionTimeout: '90 seconds',
    args: [{ adopt: { requestId }, tuning: { ...fastTuning, archiveGraceMs: 1_000, archivePauseMs: 100 } }],
  });
  return longhaul.task(workflowId);
}

/** Addresses that are not public nor the service's, as URLs write them; an internal server listens behind the first ones. */
const internalUrls = (): readonly string[] => [
  `http://0.0.0.0:${internalPort}/`,
  `http://0x0:${internalPort}/`,
  `http://[::ffff:0:0]:${internalPort}/`,
  ...ownAddresses().map((address) => `http://${address}:${internalPort}/`),
  'http://169.254.169.254/latest/meta-data/',
  'http://[::ffff:a9fe:a9fe]/latest/meta-data/',
  'http://168.63.129.16/machine',
  'http://10.0.0.1/',
  'http://100.64.0.1/',
  'http://[fd00::1]/',
];

/** Where other machines of its network reach this one; none without a network. */
function ownAddresses(): string[] {
  const found = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const isPrivate = ({ address, family, internal }: NetworkInterfaceInfo): boolean =>
    !internal && family === 'IPv4' && !isPublicAddress(address);
  return found.filter(isPrivate).map(({ address }) => address);
}

describe('a service that leads the worker to addresses which are not public', () => {
  it('has no output of theirs archived, neither by a link nor by a redirect, and the task says what to configure', async () => {
    const tasks = await Promise.all(internalUrls().map((url) => adopt(url, stack)));
    for (const task of tasks) {
      // On a busy machine the time of the first attempts may be over before they can tell.
      const what = 'the task to say what to configure';
      await eventually(
        async () => {
          const { status, problem } = await task.status();
          return (
            status === 'ArchiveIncomplete' && /2 of 2 outputs.*LONGHAUL_STORAGE_HOSTS/.test(problem?.message ?? '')
          );
        },
        { withinMs: 60_000, what },
      );
      await task.abandon();
      await expect(task.result()).rejects.toMatchObject({ failureType: 'ArchiveIncomplete' });
    }
    expect(internalConnections).toBe(0);
  }, 120_000);

  it('gets no input sent there by an upload token, and the task says what to configure', async () => {
    for (const url of internalUrls()) {
      aims.set('token', url);
      const photo = { '1:LoadFile.file': { file: join(photoFolder, 'chelsea.png') } };
      const task = await stack.start({ webAppId: 11, inputs: photo });
      const handle = longhaul.task(task.workflowId);
      await eventually(
        async () => {
          const { problem, isOver } = await handle.status();
          const failed = (error: unknown): string => String(error);
          const failure = isOver ? await handle.result().then(() => '', failed) : '';
          return `${problem?.message ?? ''} ${failure}`.includes('LONGHAUL_STORAGE_HOSTS');
        },
        { what: `words about ${url}` },
      );
      await task.cancel();
      await task.result().catch(() => undefined);
    }
    expect(internalConnections).toBe(0);
  }, 120_000);

  it('may lead there once the operator has configured the host', async () => {
    const env = { LONGHAUL_SERVICE_URL: rogue.url, LONGHAUL_STORAGE_HOSTS: `0.0.0.0:${internalPort}` };
    const configured = await TaskStack.open({ env });
    try {
      const task = await adopt(`http://0.0.0.0:${internalPort}/`, configured);
      expect(await task.result()).toMatchObject({ status: 'Success', outputs: [{ bytes: 16 }, { bytes: 16 }] });
    } finally {
      await configured.close();
    }
  }, 60_000);
});
