import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import sharp from 'sharp';
import { photoFolder, TaskStack } from '../../support/task-stack';

let stack: TaskStack;
beforeAll(async () => {
  stack = await TaskStack.open();
});
afterAll(() => stack.close());

/** The app "Photo finish", made independently. */
async function photoFinish(photo: string): Promise<Buffer> {
  return await sharp(await readFile(photo))
    .resize(384, 256, { fit: 'cover', kernel: 'lanczos3' })
    .blur(2)
    .negate({ alpha: false })
    .removeAlpha()
    .raw()
    .toBuffer();
}

describe('one photo, from the file to the archive, on real parts', () => {
  it('archives the really transformed photo, its hash and its manifest, after one create', async () => {
    const inputs = {
      '1:LoadImage.image': { file: 'chelsea.png' },
      '2:ImageScale.width': 384,
      '2:ImageScale.height': '256',
      '3:ImageBlur.sigma': 2,
    };
    const task = await stack.start({ webAppId: 1, inputs });
    const result = await task.result();

    expect(result.status).toBe('Success');
    const [output] = result.outputs;
    const archived = await readFile(output?.path ?? '');
    expect(createHash('sha256').update(archived).digest('hex')).toBe(output?.sha256);
    expect(archived).toHaveLength(output?.bytes ?? -1);
    const pixels = await sharp(archived).removeAlpha().raw().toBuffer();
    expect(pixels.equals(await photoFinish(join(photoFolder, 'chelsea.png')))).toBe(true);

    const manifest = JSON.parse(await readFile(result.manifest ?? '', 'utf8')) as Record<string, unknown>;
    const photo = await readFile(join(photoFolder, 'chelsea.png'));
    expect(manifest).toMatchObject({
      status: 'Success',
      requestId: result.requestId,
      workflowId: task.workflowId,
      webAppId: 1,
      inputs: [{ name: 'chelsea.png', sha256: createHash('sha256').update(photo).digest('hex'), bytes: photo.length }],
      values: { '2:ImageScale.width': 384 },
      outputs: [{ file: '0.png', sha256: output?.sha256 }],
    });
    expect(await readdir(dirname(output?.path ?? ''))).toEqual(['0.png', 'manifest.json']);
    expect(stack.service.ledger.entries({ endpoint: 'create', requestId: result.requestId ?? '' })).toHaveLength(1);
    expect(stack.service.ledger.entries({ endpoint: 'create' })).toHaveLength(1);
  });
});
