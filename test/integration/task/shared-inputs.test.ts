import { randomUUID } from 'node:crypto';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EndpointName } from '../../../reference-service/endpoint-name';
import type { ManifestInput } from '../../../src/contract/activities';
import type { FileInput } from '../../../src/contract/task-input';
import type { TaskResult } from '../../../src/contract/task-result';
import { photoFolder, TaskStack } from '../../support/task-stack';
import { temporaryFolder } from '../../support/temporary-folder';

const folder = temporaryFolder();
let stack: TaskStack;
/** A worker that has seen nothing yet of what the other one uploaded. */
let later: TaskStack;
beforeAll(async () => {
  for (const name of ['cat.png', 'same-cat.png']) {
    copyFileSync(join(photoFolder, 'chelsea.png'), join(folder.path, name));
  }
  copyFileSync(join(photoFolder, 'rocket.jpg'), join(folder.path, 'rocket.jpg'));
  stack = await TaskStack.open({ env: { LONGHAUL_INPUT_ROOTS: folder.path } });
  later = await TaskStack.open({
    env: {
      LONGHAUL_INPUT_ROOTS: folder.path,
      LONGHAUL_ARCHIVE: stack.archive,
      LONGHAUL_SERVICE_URL: stack.service.url,
      LONGHAUL_API_KEY: stack.service.apiKey,
    },
  });
});
afterAll(async () => {
  await later.close();
  await stack.close();
  folder.remove();
});

/** Runs rows at the same time, one per file. */
async function runRows(worker: TaskStack, files: readonly FileInput[]): Promise<TaskResult[]> {
  const id = `photos-${randomUUID()}`;
  const started = files.map((file, index) =>
    worker.start({
      webAppId: 1,
      inputs: { '1:LoadImage.image': file },
      batch: { id, key: `row-${index}` },
    }),
  );
  return await Promise.all((await Promise.all(started)).map((task) => task.result()));
}

/** What happens of these requests meanwhile. */
async function counting<Result>(act: () => Promise<Result>) {
  const before = stack.service.ledger.entries().length;
  const result = await act();
  const entries = stack.service.ledger.entries().slice(before);
  const asked = (endpoint: EndpointName): number => entries.filter((entry) => entry.endpoint === endpoint).length;
  const counts = { tokens: asked('upload-token'), commits: asked('commit'), creates: asked('create') };
  return { result, counts };
}

function inputOf({ manifest }: TaskResult): ManifestInput {
  const { inputs } = JSON.parse(readFileSync(manifest ?? '', 'utf8')) as { inputs: ManifestInput[] };
  return inputs[0]!;
}

describe('input files of rows', () => {
  let resourceId: ManifestInput['resourceId'];

  it('are uploaded once for thirty rows that start together', async () => {
    const { result, counts } = await counting(() => runRows(stack, Array(30).fill({ file: 'cat.png' }) as FileInput[]));
    expect(new Set(result.map(({ status }) => status))).toEqual(new Set(['Success']));
    expect(counts).toEqual({ tokens: 1, commits: 1, creates: 30 });
    const ids = new Set(result.map((one) => inputOf(one).resourceId));
    expect(ids.size).toBe(1);
    [resourceId = 0] = ids;
  });

  it('of one content are one resource under any name, and the manifest has the name of each', async () => {
    const { result, counts } = await counting(() => runRows(later, [{ file: 'same-cat.png', as: 'id' }]));
    expect(counts).toEqual({ tokens: 0, commits: 0, creates: 1 });
    expect(result.map(inputOf)).toMatchObject([{ name: 'same-cat.png', resourceId }]);
  });

  it('are uploaded for themselves where an app is given the name', async () => {
    const { result, counts } = await counting(() => runRows(stack, [{ file: 'same-cat.png', as: 'name' }]));
    expect(result).toMatchObject([{ status: 'Success' }]);
    expect(counts).toEqual({ tokens: 1, commits: 1, creates: 1 });
  });

  it('are uploaded again, once, when the service has lost their resource', async () => {
    const first = await runRows(stack, [{ file: 'rocket.jpg' }]);
    stack.service.removeResource(Number(inputOf(first[0]!).resourceId));
    const files = Array(10).fill({ file: 'rocket.jpg' }) as FileInput[];
    const { result, counts } = await counting(() => runRows(later, files));
    expect(result.map(({ status }) => status)).toEqual(Array(10).fill('Success'));
    expect(counts).toEqual({ tokens: 1, commits: 1, creates: 10 });
  });
});
