import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileFunction } from 'node:vm';
import ts from 'typescript';
import * as library from '../../../src/index';
import * as testing from '../../../src/testing';
import { codeBlocks } from '../../support/markdown';

const path = 'docs/guides/testing.md';
const text = readFileSync(join(__dirname, '../../..', path), 'utf8');

interface Written {
  readonly name: string;
  readonly run: () => Promise<void>;
}

/** The tests of the page's code, which has the library by its names. */
function testsOf(code: string): Written[] {
  const tests: Written[] = [];
  const modules: Readonly<Record<string, object>> = {
    'node:assert/strict': assert,
    'node:test': { test: (name: string, run: () => Promise<void>) => tests.push({ name, run }) },
    '@longhaul/client': library,
    '@longhaul/client/testing': testing,
  };
  const compilerOptions = { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022, esModuleInterop: true };
  const { outputText } = ts.transpileModule(code, { compilerOptions });
  const find = (name: string) => modules[name] ?? {};
  Reflect.apply(compileFunction(outputText, ['require', 'exports']), undefined, [find, {}]);
  return tests;
}

describe('docs/guides/testing.md', () => {
  it('has tests that pass against the fake', async () => {
    const tests = codeBlocks({ path, text }).flatMap(({ code }) => testsOf(code));
    expect(tests.length).toBeGreaterThan(1);
    for (const { run } of tests) await run();
  });
});
