import { join } from 'node:path';
import { build } from 'esbuild';

describe('the entry of states and failure types', () => {
  it('is a few kilobytes in a browser, and loads no package', async () => {
    const { metafile, outputFiles } = await build({
      entryPoints: [join(__dirname, '../../../src/states.ts')],
      bundle: true,
      format: 'esm',
      platform: 'browser',
      write: false,
      metafile: true,
    });
    expect(Object.keys(metafile.inputs).filter((path) => path.includes('node_modules'))).toEqual([]);
    expect(outputFiles[0]?.contents.length).toBeLessThan(12_000);
  });
});
