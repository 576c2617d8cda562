import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import type { TaskResult } from '../../../src/contract/task-result';
import { statusQuery } from '../../../src/contract/task-messages';
import { listFiles } from '../../support/list-files';
import { failureOf, type RunningTask } from '../../support/task-environment';
import { TaskStack } from '../../support/task-stack';

const photo = { '1:LoadImage.image': { file: 'chelsea.png' } };

let stack: TaskStack;
beforeAll(async () => {
  stack = await TaskStack.open();
});
afterAll(() => stack.close());

async function requestIdOf(task: RunningTask): Promise<string> {
  return (await task.query(statusQuery)).requestId ?? '';
}

async function manifestOf(requestId: string): Promise<unknown> {
  return JSON.parse(await readFile(join(stack.archive, requestId, 'manifest.json'), 'utf8'));
}

/** How many times the service was asked for this task's outputs. */
function queries(requestId: string): number {
  return stack.service.ledger.entries({ endpoint: 'outputs', requestId }).length;
}

async function hashes(outputs: TaskResult['outputs']): Promise<string[]> {
  const files = await Promise.all(outputs.map(({ path }) => readFile(path)));
  return files.map((content) => createHash('sha256').update(content).digest('hex'));
}

describe('the outputs of a task', () => {
  it('are archived all, in their order, each whole and with its own hash', async () => {
    const task = await stack.start({ webAppId: 4, inputs: photo, suppressPreviewOutput: true });
    const { requestId, outputs } = await task.result();
    expect(await hashes(outputs)).toEqual(outputs.map(({ sha256 }) => sha256));
    const pictures = await Promise.all(outputs.map(({ path }) => sharp(path).metadata()));
    expect(pictures.map(({ format, width }) => ({ format, width }))).toEqual([
      { format: 'png', width: 640 },
      { format: 'jpeg', width: 128 },
      { format: 'webp', width: 640 },
    ]);
    const files = outputs.map(({ ext }, index) => `${index}${ext}`);
    expect(listFiles(join(stack.archive, requestId ?? ''))).toEqual([...files, 'manifest.json']);
    const described = outputs.map(({ sha256, bytes, ext }, index) => ({ file: files[index], sha256, bytes, ext }));
    expect(await manifestOf(requestId ?? '')).toMatchObject({ outputs: described });
  });

  it('go where the task says, inside of the archive', async () => {
    const task = await stack.start({ webAppId: 5, inputs: {}, archive: 'campaign-7/drafts' });
    const { requestId, outputs, manifest } = await task.result();
    const folder = join(stack.archive, 'campaign-7/drafts', requestId ?? '');
    expect({ path: outputs[0]?.path, manifest }).toEqual({
      path: join(folder, '0.png'),
      manifest: join(folder, 'manifest.json'),
    });
  });

  it('are fetched with fresh links when theirs have expired', async () => {
    stack.service.scenarios.add({ endpoint: 'outputs', scenario: { name: 'expired-links' } });
    const task = await stack.start({ webAppId: 4, inputs: photo });
    const { requestId, outputs } = await task.result();
    expect(await hashes(outputs)).toEqual(outputs.map(({ sha256 }) => sha256));
    expect(outputs).toHaveLength(4);
    expect(queries(requestId ?? '')).toBeGreaterThan(1);
  });

  it.each(['no-outputs', 'cut-body', 'rubbish', 'answer-error'] as const)(
    'are asked for again when their list comes late or not whole: %s',
    async (name) => {
      stack.service.scenarios.add({ endpoint: 'outputs', scenario: { name } });
      const { requestId, outputs } = await (await stack.start({ webAppId: 5, inputs: {} })).result();
      expect(outputs).toHaveLength(1);
      expect(queries(requestId ?? '')).toBe(2);
    },
  );
});

describe('a task that fails at the service', () => {
  it('fails in the service’s words, with a manifest that says so', async () => {
    const task = await stack.start({ webAppId: 3, inputs: photo });
    const failure = await failureOf(task);
    const requestId = await requestIdOf(task);
    expect(failure.type).toBe('TaskFailed');
    expect(failure.message).toContain('the darkroom is out of order');
    expect(failure.details).toMatchObject([{ result: { requestId, status: 'Failed', outputs: [] } }]);
    expect(listFiles(join(stack.archive, requestId))).toEqual(['manifest.json']);
    expect(await manifestOf(requestId)).toMatchObject({
      status: 'Failed',
      errorMessage: expect.stringContaining('the darkroom is out of order') as string,
      inputs: [{ name: 'chelsea.png' }],
      outputs: [{ file: null, sha256: null, errorType: 'EXECUTION_ERROR' }],
    });
  });

  it('keeps what it made before it failed', async () => {
    const task = await stack.start({ webAppId: 10, inputs: photo });
    const failure = await failureOf(task);
    const requestId = await requestIdOf(task);
    expect(failure.message).toContain('the second half is missing');
    expect(listFiles(join(stack.archive, requestId))).toEqual(['0.png', 'manifest.json']);
    const { width } = await sharp(join(stack.archive, requestId, '0.png')).metadata();
    expect(width).toBe(320);
    expect(await manifestOf(requestId)).toMatchObject({
      outputs: [
        { file: '0.png', errorType: 'NOT_ERROR' },
        {
          file: null,
          errorType: 'EXECUTION_ERROR',
          errorMessage: expect.stringContaining('the second half is missing') as string,
        },
      ],
    });
  });
});
