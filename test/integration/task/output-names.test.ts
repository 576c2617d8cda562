import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TaskResult } from '../../../src/contract/task-result';
import { TaskStack } from '../../support/task-stack';

let stack: TaskStack;
beforeAll(async () => {
  stack = await TaskStack.open();
});
afterAll(() => stack.close());

/** A row of a batch that nobody runs any more. */
/** Each of the row's runs has a create of its own. */
let createNumber = 0;

async function runRow(template: string, color: string): Promise<TaskResult> {
  const batch = { id: 'spring', key: 'row-7', names: { template, columns: { who: 'Ada/Lovelace' } } };
  createNumber += 1;
  const inputs = { '1:EmptyImage.color': color };
  return await (await stack.start({ webAppId: 5, inputs, batch, createNumber })).result();
}

describe('a row’s outputs', () => {
  it('have the names that the batch’s template gives them, the manifest beside them', async () => {
    const result = await runRow('{who}/{batch}/{key}/{index}{ext}', '#112233');
    const folder = join(stack.archive, result.outputs[0]?.path.slice(stack.archive.length + 1).split('/')[0] ?? '');
    expect((await readdir(join(folder, 'spring', 'row-7'))).sort()).toEqual(['0.png', 'manifest.json']);
    expect(result.manifest).toBe(join(folder, 'spring', 'row-7', 'manifest.json'));
  });

  it('are those of the last run when the row is run again, never a former run’s under the same name', async () => {
    const template = '{batch}/{key}/{index}{ext}';
    const first = await runRow(template, '#445566');
    const second = await runRow(template, '#778899');
    expect(second.outputs[0]?.path).toBe(first.outputs[0]?.path);
    expect(second.outputs[0]?.sha256).not.toBe(first.outputs[0]?.sha256);
    const manifest: unknown = JSON.parse(await readFile(second.manifest ?? '', 'utf8'));
    expect(manifest).toMatchObject({ requestId: second.requestId, outputs: [{ sha256: second.outputs[0]?.sha256 }] });
  });
});
