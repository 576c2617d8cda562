import { join } from 'node:path';
import ts from 'typescript';

const root = join(__dirname, '../../..');
const file = join(root, 'test/unit/docs/as-typed.ts');
const text = `import { Longhaul } from '../../../src';
declare const longhaul: Longhaul;
export const started = longhaul.start({
  key: 'a', webAppId: 1, inputs: { '1:A.b': { file: 'x' } }, account: 'x', archive: 'y', watch: 'timer',
  deadlines: { total: '1h' }, webhook: 'w', onUncertain: 'hold', uncertainWait: 5, suppressPreviewOutput: true,
});
export const adopted = longhaul.start({ adopt: { requestId: 'r' }, createNumber: 1 });
export async function follow(): Promise<void> {
  for await (const event of longhaul.task('a').events()) if (event.kind === 'end' && event.status === '') return;
  for await (const task of longhaul.list()) if (task.failure === '') return;
}
`;

/** What TypeScript tells an editor of a program as it is typed. */
function languageService(): ts.LanguageService {
  const settings = ts.readConfigFile(join(root, 'tsconfig.json'), (path) => ts.sys.readFile(path)).config as object;
  const { options } = ts.parseJsonConfigFileContent({ ...settings, include: [], files: [file] }, ts.sys, root);
  const read = (path: string): string | undefined => (path === file ? text : ts.sys.readFile(path));
  return ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => [file],
    getScriptVersion: () => '1',
    getScriptSnapshot: (path) => {
      const content = read(path);
      return content === undefined ? undefined : ts.ScriptSnapshot.fromString(content);
    },
    getCurrentDirectory: () => root,
    getDefaultLibFileName: (one) => ts.getDefaultLibFilePath(one),
    fileExists: (path) => path === file || ts.sys.fileExists(path),
    readFile: read,
  });
}

const service = languageService();

describe('an editor', () => {
  it('shows what each field of a start means', () => {
    const fields = [
      'key',
      'webAppId',
      'inputs',
      'file',
      'account',
      'archive',
      'watch',
      'deadlines',
      'total',
      'webhook',
    ];
    const others = ['onUncertain', 'uncertainWait', 'suppressPreviewOutput', 'requestId', 'createNumber'];
    const unexplained = [...fields, ...others].filter((name) => {
      const shown = service.getQuickInfoAtPosition(file, text.search(new RegExp(`\\b${name}:`)));
      return ts.displayPartsToString(shown?.documentation) === '';
    });
    expect(unexplained).toEqual([]);
  });

  it.each([
    ["event.status === '", 'CreateUncertain'],
    ["task.failure === '", 'TaskRejected'],
  ])('completes the words after %s, and other words compile', (begins, word) => {
    const position = text.indexOf(begins) + begins.length;
    const completed = service.getCompletionsAtPosition(file, position, {})?.entries.map(({ name }) => name);
    expect(completed).toContain(word);
    expect(service.getSemanticDiagnostics(file)).toEqual([]);
  });
});
