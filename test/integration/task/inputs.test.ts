import { createHash } from 'node:crypto';
import { copyFileSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { EndpointName } from '../../../reference-service/endpoint-name';
import type { TaskInput } from '../../../src/contract/task-input';
import type { TaskResult } from '../../../src/contract/task-result';
import { startHttpServer, type TestHttpServer } from '../../support/start-http-server';
import { failureOf } from '../../support/task-environment';
import { photoFolder, TaskStack } from '../../support/task-stack';
import { temporaryFolder } from '../../support/temporary-folder';

const photo = readFileSync(join(photoFolder, 'chelsea.png'));
const sha256 = createHash('sha256').update(photo).digest('hex');

const folder = temporaryFolder();
let pictures: TestHttpServer;
let stack: TaskStack;
beforeAll(async () => {
  copyFileSync(join(photoFolder, 'chelsea.png'), join(folder.path, 'cat.png'));
  copyFileSync(join(photoFolder, 'chelsea.png'), join(folder.path, 'same-cat.png'));
  copyFileSync(join(photoFolder, 'rocket.jpg'), join(folder.path, 'rocket.jpg'));
  pictures = await startHttpServer(({ url }, response) => {
    givePicture(url, response);
  });
  const host = new URL(pictures.url).host;
  stack = await TaskStack.open({ env: { LONGHAUL_INPUT_ROOTS: folder.path, LONGHAUL_INPUT_HOSTS: host } });
});
afterAll(async () => {
  await stack.close();
  await pictures.close();
  folder.remove();
});

/** How often a picture that comes late was asked for. */
let lateAsked = 0;

function givePicture(url: string, response: ServerResponse): void {
  if (url === '/late.png') lateAsked += 1;
  if (url === '/moved.png') response.writeHead(302, { location: '/cat.png' }).end();
  else if (url === '/cat.png' || (url === '/late.png' && lateAsked > 2)) response.end(photo);
  else response.writeHead(url === '/late.png' ? 503 : 404).end();
}

interface Outcome {
  readonly result: TaskResult;
  readonly inputs: unknown;
  /** How many requests of this kind the task caused. */
  readonly asked: (endpoint: EndpointName) => number;
}

async function runTask(input: TaskInput): Promise<Outcome> {
  const before = stack.service.ledger.entries().length;
  const result = await (await stack.start(input)).result();
  const entries = stack.service.ledger.entries().slice(before);
  const manifest = JSON.parse(await readFile(result.manifest ?? '', 'utf8')) as Record<string, unknown>;
  return {
    result,
    inputs: manifest['inputs'],
    asked: (endpoint) => entries.filter((entry) => entry.endpoint === endpoint).length,
  };
}

function twoPhotos(first: string, second: string): TaskInput {
  return { webAppId: 7, inputs: { '1:LoadImage.image': { file: first }, '2:LoadImage.image': { file: second } } };
}

describe('input files', () => {
  it.each([
    { name: 'drop-request', commits: 2 },
    // The list of resources has it by then.
    { name: 'drop-reply', commits: 1 },
  ] as const)('are uploaded once and become one resource when their commit fails: $name', async ({ name, commits }) => {
    stack.service.scenarios.add({ endpoint: 'commit', scenario: { name }, times: 1 });
    const file = join(folder.path, 'rocket.jpg');
    const { result, asked } = await runTask({ webAppId: 1, inputs: { '1:LoadImage.image': { file } } });
    expect(result.status).toBe('Success');
    expect({ tokens: asked('upload-token'), commits: asked('commit') }).toEqual({ tokens: 1, commits });
  });

  it('cost one activity each', async () => {
    const file = join(folder.path, 'cat.png');
    const task = await stack.start({ webAppId: 1, inputs: { '1:LoadImage.image': { file } } });
    await task.result();
    const { events } = await task.fetchHistory();
    const types = (events ?? []).flatMap(
      ({ activityTaskScheduledEventAttributes: event }) => event?.activityType?.name ?? [],
    );
    expect(types).toEqual(['storeInput', 'createTask', 'archiveOutputs']);
  });

  it('of the same content are uploaded once, whatever they are called', async () => {
    const { result, inputs, asked } = await runTask(twoPhotos('cat.png', 'same-cat.png'));
    expect(result.status).toBe('Success');
    expect({ tokens: asked('upload-token'), commits: asked('commit') }).toEqual({ tokens: 1, commits: 1 });
    expect(inputs).toMatchObject([{ keys: ['1:LoadImage.image', '2:LoadImage.image'], sha256 }]);
  });

  it.each(['url', 'name', 'id'] as const)('are given to the app by their %s', async (as) => {
    const { result, inputs } = await runTask({
      webAppId: 1,
      inputs: { '1:LoadImage.image': { file: 'cat.png', as } },
    });
    expect(result.status).toBe('Success');
    expect(inputs).toMatchObject([{ name: 'cat.png', sha256, bytes: photo.length }]);
  });

  it.each(['/cat.png', '/moved.png', '/late.png'])('can come from an allowed host: %s', async (path) => {
    const { result, inputs } = await runTask({
      webAppId: 1,
      inputs: { '1:LoadImage.image': { file: `${pictures.url}${path}` } },
    });
    expect(result.status).toBe('Success');
    expect(inputs).toMatchObject([{ file: `${pictures.url}${path}`, sha256, bytes: photo.length }]);
  });

  it('that a host refuses end the task unpaid, naming the input and the address', async () => {
    const file = `${pictures.url}/gone.png`;
    const before = stack.service.ledger.total('create');
    const failure = await failureOf(await stack.start({ webAppId: 1, inputs: { '1:LoadImage.image': { file } } }));
    expect(failure.type).toBe('InputUnusable');
    for (const word of ['inputs["1:LoadImage.image"]', file, 'HTTP 404', 'check that']) {
      expect(failure.message).toContain(word);
    }
    expect(stack.service.ledger.total('create')).toBe(before);
  });

  it('of which one of several cannot be read name that one', async () => {
    const failure = await failureOf(await stack.start(twoPhotos('cat.png', 'nowhere.png')));
    expect(failure.type).toBe('InputUnusable');
    expect(failure.message).toMatch(/^inputs\["2:LoadImage\.image"\]: input file "nowhere\.png" does not exist/);
    expect(failure.details).toMatchObject([{ inputs: ['2:LoadImage.image'] }]);
  });

  it('are uploaded anew with fresh credentials when theirs have expired', async () => {
    stack.service.scenarios.add({ endpoint: 'upload-token', scenario: { name: 'expired-credentials' } });
    const { result, asked } = await runTask({ webAppId: 1, inputs: { '1:LoadImage.image': { file: 'cat.png' } } });
    expect(result.status).toBe('Success');
    expect({ tokens: asked('upload-token'), commits: asked('commit') }).toEqual({ tokens: 2, commits: 1 });
  });

  it('are committed once, although the answer to the commit was lost', async () => {
    stack.service.scenarios.add({ endpoint: 'commit', scenario: { name: 'drop-reply' } });
    const { result, asked } = await runTask({ webAppId: 1, inputs: { '1:LoadImage.image': { file: 'cat.png' } } });
    expect(result.status).toBe('Success');
    expect({ tokens: asked('upload-token'), commits: asked('commit') }).toEqual({ tokens: 1, commits: 1 });
  });
});
