import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findNodeRelease, nodeReleases } from '../../tools/node-release';
import { writeCodecKeys, newCodecKey } from '../support/codec-keys';
import { eventually } from '../support/eventually';
import { ProcessStack } from '../support/process-stack';
import { runToEnd } from '../support/run-longhaul';
import { photoFolder } from '../support/task-stack';
import { temporaryFolder } from '../support/temporary-folder';
import { type ReceivedSpan, TraceSink } from '../support/trace-sink';
import { ConsumerProject } from './consumer-project';
import { type PackedPackages, packPackages } from './packed-packages';

/** The reference service's app that hands a file back. */
const courier = 11;
const photo = 'chelsea.png';
const root = join(__dirname, '../..');
const entries = ['.', './files', './operator', './package.json', './row-files', './service', './states', './testing'];
const folder = temporaryFolder();

/** What a backend does: starts a task, meets one that fails, asks the service, and says what came of it. */
const backend = `
  const { LONGHAUL_SERVICE_URL, LONGHAUL_API_KEY, TEST_QUEUE, TEST_KEY, TEST_PHOTO } = process.env;
  const longhaul = await Longhaul.connect({ taskQueue: TEST_QUEUE ?? '' });
  const task = await longhaul.start({
    key: TEST_KEY ?? '',
    webAppId: ${courier},
    inputs: { '1:LoadFile.file': { file: TEST_PHOTO ?? '' } },
  });
  const { status, requestId, outputs } = await task.result();
  const refused = await longhaul.start({ key: TEST_KEY + '-refused', webAppId: 404404, inputs: {} });
  const failure = await refused.result().then(
    () => 'none',
    (error) => (error instanceof TaskFailedError ? error.failureType : String(error)),
  );
  await longhaul.close();
  const service = new ServiceClient({ baseUrl: LONGHAUL_SERVICE_URL ?? '', apiKey: () => LONGHAUL_API_KEY ?? '' });
  const seen = await service.getTask(requestId ?? '');
  await service.close();
  console.log(JSON.stringify({ status, failure, path: outputs[0]?.path, seen: seen.status }));
`;
const names = '{ Longhaul, TaskFailedError }';
const programs = {
  'an ES module': {
    file: 'backend.mjs',
    text: `import ${names} from '@longhaul/client';\nimport { ServiceClient } from '@longhaul/client/service';\n${backend}`,
  },
  'a CommonJS module': {
    file: 'backend.cjs',
    text: `const ${names} = require('@longhaul/client');\nconst { ServiceClient } = require('@longhaul/client/service');\n(async () => {${backend}})();`,
  },
};
/** Has mistakes that only declarations show; without them, each comment is an error of its own. */
const typedBackend = `import { Longhaul, type StartTaskOptions, TaskFailedError, type TaskHandle, type TaskResult } from '@longhaul/client';
import { ServiceClient, type TaskDetail } from '@longhaul/client/service';
// @ts-expect-error
export const noResult: TaskResult = { status: 1 };
// @ts-expect-error
export const noDetail: TaskDetail = { status: 1 };
// @ts-expect-error
export const noOptions: StartTaskOptions = 'none';
export const isOver = (task: TaskHandle): TaskHandle => ({ ...task, isOver: () => Promise.resolve(true) });
export const closed = (own: Longhaul): Longhaul => ({ ...own, close: () => Promise.resolve() });
export async function main(): Promise<void> {
  // @ts-expect-error
  if (process.env['NEVER'] === '') await (await Longhaul.connect()).start({ webAppId: 'one' });
${backend.replace('(error) =>', '(error: unknown) =>')}
}
void main();
`;
const resolutions = [
  ['node10', 'backend.cts', ['--module', 'commonjs', '--moduleResolution', 'node10', '--ignoreDeprecations', '6.0']],
  ['node16 in a CommonJS module', 'backend.cts', ['--module', 'node16', '--moduleResolution', 'node16']],
  ['node16 in an ES module', 'backend.mts', ['--module', 'node16', '--moduleResolution', 'node16']],
  ['bundler', 'backend.mts', ['--module', 'esnext', '--moduleResolution', 'bundler']],
] as const;

let packed: PackedPackages;
let client: ConsumerProject;
let worker: ConsumerProject;
beforeAll(async () => {
  packed = await packPackages(folder.path);
  client = await ConsumerProject.install(join(folder.path, 'backend'), packed.client);
  worker = await ConsumerProject.install(join(folder.path, 'worker'), packed.worker);
  for (const { file, text } of Object.values(programs)) client.write(file, text);
  for (const file of ['backend.cts', 'backend.mts']) client.write(file, typedBackend);
}, 900_000);
afterAll(folder.remove);

describe('an installation', () => {
  it('of the client has at most 45 MB and 60 packages, none of which only a worker needs', async () => {
    await report('client', client, ['@temporalio/client', '@longhaul/client', '@longhaul/client/service']);
    expect(client.sizeMb()).toBeLessThanOrEqual(45);
    expect(client.packages().length).toBeLessThanOrEqual(60);
    const heavy =
      /node_modules\/(@temporalio\/(worker|workflow|core-bridge)|@aws-sdk\/|@opentelemetry\/|zod$|webpack$)/;
    expect(client.packages().filter((path) => heavy.test(path))).toEqual([]);
  });

  it('of the worker has at most 300 MB and 185 packages', async () => {
    await report('worker', worker, ['longhaul', 'longhaul/service']);
    expect(worker.sizeMb()).toBeLessThanOrEqual(300);
    expect(worker.packages().length).toBeLessThanOrEqual(185);
  });

  it('of the worker has at most 195 MB without what the image leaves out', () => {
    const [command] = /find node_modules.*/.exec(readFileSync(join(root, 'Dockerfile'), 'utf8')) ?? [];
    execFileSync('sh', ['-c', command ?? 'false'], { cwd: worker.folder });
    expect(worker.sizeMb()).toBeLessThanOrEqual(195);
  });
});

describe('the types', () => {
  it.each(['client', 'worker'] as const)('of the %s resolve in every way that TypeScript has', async (name) => {
    const script = join(__dirname, 'find-type-problems.mjs');
    const command = { command: process.execPath, args: [script, packed[name]] };
    const { stdout, stderr } = await runToEnd(command, { cwd: root, env: process.env, timeout: 120_000 });
    expect(stderr).toBe('');
    const found = JSON.parse(stdout) as { entries: string[]; problems: unknown[] };
    expect({ ...found, entries: [...found.entries].sort() }).toEqual({ entries, problems: [] });
  });

  it.each(resolutions)('of the client are those of its values: %s', async (_, file, options) => {
    const { stdout } = await client.compile(file, [...options, '--noEmit']);
    // What other packages' own declarations lack is theirs; what ours lack would be seen as `any`.
    const isOfOthers = (line: string): boolean => /^( |node_modules\/(?!@longhaul\/))/.test(line);
    expect(stdout.split('\n').filter((line) => line !== '' && !isOfOthers(line))).toEqual([]);
  });
});

describe('the classes', () => {
  it.each([
    ['@longhaul/client', () => client],
    ['longhaul', () => worker],
  ])('that %s exports can be compared with in TypeScript, each of them', async (name, project) => {
    const modules = [name, `${name}/files`, `${name}/row-files`, `${name}/service`];
    const classes = new Map(modules.map((module) => [module, classesOf(module, project())]));
    expect(classes.get(name)).toEqual(expect.arrayContaining(['ConfigError', 'LonghaulError', 'TaskFailedError']));
    expect(classes.get(`${name}/files`)).toEqual(expect.arrayContaining(['ArchiveError', 'ConfigError']));
    const comparisons = [...classes].flatMap(([module, names], index) => [
      `import * as module${index} from '${module}';`,
      ...names.map((one) => `export const is${one}${index} = {} instanceof module${index}.${one};`),
    ]);
    project().write('classes.mts', `${comparisons.join('\n')}\n`);
    const node16 = ['--module', 'node16', '--moduleResolution', 'node16'];
    const { stdout } = await project().compile('classes.mts', [...node16, '--skipLibCheck', '--noEmit']);
    expect(stdout).toBe('');
  });
});

describe('a backend', () => {
  let stack: ProcessStack;
  let sink: TraceSink;
  let env: NodeJS.ProcessEnv;
  beforeAll(async () => {
    stack = await ProcessStack.open();
    sink = await TraceSink.start();
    copyFileSync(join(photoFolder, photo), join(stack.inputs, photo));
    const keys = writeCodecKeys(folder.path, { first: newCodecKey() });
    const traced = { ...stack.env, LONGHAUL_CODEC_KEYS_FILE: keys, LONGHAUL_TRACES_OTLP_URL: sink.url };
    const cli = join(worker.folder, 'node_modules/longhaul/lib/cli.js');
    await stack.startWorker(traced, stack.taskQueue, (args) => ({ command: process.execPath, args: [cli, ...args] }));
    env = { ...stack.env, LONGHAUL_CODEC_KEYS_FILE: keys, TEST_QUEUE: stack.taskQueue };
    env['TEST_PHOTO'] = join(stack.inputs, photo);
    const compiled = await client.compile('backend.mts', [
      ...['--module', 'node16', '--moduleResolution', 'node16', '--skipLibCheck', '--outDir', 'built'],
    ]);
    if (compiled.exitCode !== 0) throw new Error(`backend.mts does not compile:\n${compiled.stdout}`);
  }, 300_000);
  afterAll(async () => {
    await stack.close();
    await sink.close();
  });

  const files = { ...programs, 'a TypeScript module': { file: 'built/backend.mjs', text: '' } };
  const releases = [undefined, ...nodeReleases].map((release) => [release?.version ?? 'this', release] as const);

  describe.each(releases)('on Node %s', (version, release) => {
    let node: string;
    beforeAll(async () => {
      node = release === undefined ? process.execPath : await findNodeRelease(release);
    }, 300_000);

    it.each(Object.entries(files))('that is %s has its task run by the installed worker', async (_, { file }) => {
      const key = `${version}-${file.replaceAll('/', '-')}`;
      const { stdout, stderr } = await client.run([file], { ...env, TEST_KEY: key }, node);
      expect(stderr).toBe('');
      const { path, ...said } = JSON.parse(stdout) as { path: string };
      expect(said).toEqual({ status: 'Success', failure: 'TaskRejected', seen: 'Success' });
      expect(readFileSync(path)).toEqual(readFileSync(join(photoFolder, photo)));
    });
  });

  it('whose traces are on without the API of OpenTelemetry is given the package to install', async () => {
    client.write(
      'traced.mjs',
      `import { loadLonghaulInterceptors } from '@longhaul/client';\nawait loadLonghaulInterceptors();`,
    );
    const { exitCode, stderr } = await client.run(['traced.mjs'], { ...env, LONGHAUL_TRACES_OTLP_URL: sink.url });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      /ConfigError: .*\n.*LONGHAUL_TRACES_OTLP_URL is set.*@opentelemetry\/api is not installed; install/,
    );
  });

  it('has its task in the traces of the installed worker', async () => {
    const { stderr } = await client.run(['backend.mjs'], { ...env, TEST_KEY: 'traced' });
    expect(stderr).toBe('');
    const isOfTask = ({ attributes }: ReceivedSpan): boolean => Object.values(attributes).includes('task:traced');
    await eventually(() => sink.spans.some(isOfTask), { what: 'a span of the task' });
  });
});

/** The names of the classes that a module exports. */
function classesOf(module: string, { folder: cwd }: ConsumerProject): string[] {
  const script = `const isClass = ([, one]) => typeof one === 'function' && String(one).startsWith('class');
    console.log(JSON.stringify(Object.entries(require('${module}')).filter(isClass).map(([name]) => name)));`;
  return JSON.parse(execFileSync(process.execPath, ['-e', script], { cwd, encoding: 'utf8' })) as string[];
}

/** With `TELL=1`, prints how large an installation is, and how long a program takes to load its entries. */
async function report(name: string, project: ConsumerProject, modules: readonly string[]): Promise<void> {
  if (process.env['TELL'] !== '1') return;
  const lines = [`${name}: ${project.sizeMb()} MB, ${project.packages().length} packages`];
  for (const module of modules) {
    const code = `const since = performance.now(); require('${module}'); console.log(performance.now() - since);`;
    const times: number[] = [];
    for (let run = 0; run < 11; run += 1) times.push(Number((await project.run(['-e', code], process.env)).stdout));
    const [least = 0, ...others] = times.sort((one, other) => one - other);
    lines.push(`  ${module}: least ${least.toFixed(0)} ms, median ${others[4]?.toFixed(0)} ms`);
  }
  process.stdout.write(`${lines.join('\n')}\n`);
}
