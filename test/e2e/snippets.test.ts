import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../support/eventually';
import { codeBlocks, markdownPages } from '../support/markdown';
import { ProcessStack } from '../support/process-stack';
import { lastingPorts } from '../../tools/free-port';
import { supervise, type SupervisedProcess } from '../../tools/supervise';

const root = join(__dirname, '../..');
// Below the checkout, so that tsx takes the code for what this package has.
const folder = mkdtempSync(join(root, 'node_modules/.snippets-'));
let stack: ProcessStack;
beforeAll(async () => {
  stack = await ProcessStack.open();
  await stack.startWorker();
});
afterAll(async () => {
  await stack.close();
  rmSync(folder, { recursive: true });
});

/** The piece of TypeScript of a page that has these words, with this checkout for the package. */
function snippet(page: string, words: string): string {
  const blocks = markdownPages('docs')
    .filter(({ path }) => path === page)
    .flatMap(codeBlocks);
  const block = blocks.find(({ language, code }) => language === 'ts' && code.includes(words));
  if (block === undefined) throw new Error(`${page} has no snippet with "${words}"`);
  return block.code
    .replace(/'(?:@longhaul\/client|longhaul)'/g, `'${root}/src'`)
    .replace(/'(?:@longhaul\/client|longhaul)\/files'/g, `'${root}/src/files'`)
    .replace(/Longhaul\.connect\((?:\{ )?/, (call) => {
      return `${call.endsWith('{ ') ? call : `${call}{ `}taskQueue: '${stack.taskQueue}'${call.endsWith('{ ') ? ', ' : ' }'}`;
    });
}

async function run(name: string, code: string, env: NodeJS.ProcessEnv = {}): Promise<SupervisedProcess> {
  const file = join(folder, name);
  writeFileSync(file, code);
  const args = ['--import', require.resolve('tsx'), file];
  return await supervise({ command: process.execPath, args, env: { ...stack.env, ...env }, graceMs: 30_000 });
}

it('the program of the tutorial prints the states of its task and where the picture is', async () => {
  const program = await run(
    'try.ts',
    snippet('docs/tutorial.md', 'my-first-program').replace('my-first', randomUUID()),
  );
  expect((await program.ended).code).toBe(0);
  expect(program.output()).toMatch(/^Success\n\/.*\.png$/m);
});

it('the snippet for SIGTERM answers the requests that run, then ends the process', async () => {
  const [port = 0] = await lastingPorts(1);
  stack.service.scenarios.add({
    endpoint: 'create',
    scenario: { name: 'refuse', reason: 'rateLimited' },
    times: 1_000,
  });
  const task = await stack.longhaul.start({ key: randomUUID(), webAppId: 5, inputs: {} });
  const server = `
import { createServer } from 'node:http';
const server = createServer((_request, response) => {
  openLonghaul()
    .then((longhaul) => longhaul.task('${task.workflowId}').result({ signal: stopping.signal }))
    .then(() => response.end(), () => response.writeHead(stopping.signal.aborted ? 503 : 500).end());
}).listen(${port}, '127.0.0.1', () => console.log('open'));
server.on('request', () => console.log('asked'));
closeAtSigterm(server);
`;
  const program = await run('backend.ts', snippet('docs/guides/backend.md', 'closeAtSigterm') + server);
  await eventually(() => program.output().includes('open'), { withinMs: 60_000 });
  const answer = fetch(`http://127.0.0.1:${port}/`);
  await eventually(() => program.output().includes('asked'));

  const stopped = program.stop();

  expect((await answer).status).toBe(503);
  await stopped;
  expect(await program.ended).toEqual({ code: 0, signal: null });
  await task.stop();
});
