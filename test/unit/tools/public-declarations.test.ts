import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { publicDeclarations } from '../../../tools/public-declarations';
import { temporaryFolder } from '../../support/temporary-folder';

const folder = temporaryFolder();
afterAll(folder.remove);

const failures = `export declare class Failure extends Error {}\nexport interface Reason {\n}\n`;
let count = 0;

/** What a package publishes of an entry that exports from `middle`, and of `middle` itself. */
function published(index: string, middle: string): readonly (string | undefined)[] {
  count += 1;
  const declarations = join(folder.path, String(count));
  mkdirSync(declarations);
  const texts = { 'index.d.ts': index, 'middle.d.ts': middle, 'failures.d.ts': failures };
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(declarations, name), text);
  const { files } = publicDeclarations(declarations, ['index']);
  return ['index.d.ts', 'middle.d.ts'].map((name) => files.get(name));
}

describe('the declarations of a package', () => {
  it('export a class that a module imports and exports as a value', () => {
    const [, middle] = published(
      `export { Failure } from './middle';`,
      `import { Failure, type Reason } from './failures';\nexport { Failure, Reason };`,
    );
    expect(middle).toBe(`export { Failure } from './failures';\nexport {};\n`);
  });

  it.each([
    ['by the import', `import type { Failure } from './failures';\nexport { Failure };`],
    ['by the name', `import { type Failure } from './failures';\nexport { Failure };`],
    ['by the export', `import { Failure } from './failures';\nexport type { Failure };`],
  ])('export as a type what is one %s', (_, text) => {
    const [, middle] = published(`export { Failure } from './middle';`, text);
    expect(middle).toBe(`export type { Failure } from './failures';\nexport {};\n`);
  });

  it('keep a value and a type of one name', () => {
    const text = `export declare const Failure: new () => Failure;\nexport type Failure = Error;`;
    const [, middle] = published(`export { Failure } from './middle';`, text);
    expect(middle).toBe(`${text}\nexport {};\n`);
  });

  it('keep the name under which an import is exported', () => {
    const [, middle] = published(
      `export { Trouble } from './middle';`,
      `import { Failure as Inner } from './failures';\nexport { Inner as Trouble };`,
    );
    expect(middle).toBe(`export { Failure as Trouble } from './failures';\nexport {};\n`);
  });
});
