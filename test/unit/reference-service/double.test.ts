import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { APPS_FOLDER, loadApps, type App } from '../../../reference-service/apps/app-catalog';
import { parseGraph } from '../../../reference-service/apps/graph';
import { applyOverrides, parseInputKey } from '../../../reference-service/apps/overrides';
import { readSettings } from '../../../reference-service/config';
import { Ledger } from '../../../reference-service/ledger';
import { Refusal } from '../../../reference-service/refusal';
import { Task } from '../../../reference-service/tasks/task';
import { TaskBook } from '../../../reference-service/tasks/task-book';
import { specifiedPace } from '../../conformance/target';

describe('the settings', () => {
  it('have a default for everything, the times of callbacks of the specification, and a new key at each start', () => {
    const [one, two] = [readSettings({}), readSettings({})];

    expect(one).toMatchObject({ port: 0, host: '127.0.0.1', signingRegion: 'cn-shanghai', slots: 4 });
    expect(one.callbacks).toMatchObject({
      retryEveryMs: specifiedPace.callbackRetryMs,
      maxAttempts: specifiedPace.callbackAttempts,
      timeoutMs: specifiedPace.callbackTimeoutMs,
    });
    expect(one.accounts[0]?.apiKey).not.toBe(two.accounts[0]?.apiKey);
  });

  it('change the code of one refusal and leave the others', () => {
    const { refusalCodes } = readSettings({ refusals: { queueFull: { httpStatus: 429 } } });
    expect(refusalCodes.queueFull).toEqual({ code: 30039, httpStatus: 429 });
    expect(refusalCodes.taskNotFound).toEqual({ code: 30009, httpStatus: 404 });
  });

  it('are refused all together when several are wrong', () => {
    expect(() => readSettings({ slots: 0, port: -1 })).toThrow(/slots[^]*port|port[^]*slots/);
  });
});

it('the ledger stays bounded per endpoint while its totals count on', () => {
  const ledger = new Ledger(100);
  ledger.open({ method: 'POST', path: '/create', endpoint: 'create' });
  for (let poll = 0; poll < 1000; poll += 1) ledger.open({ method: 'GET', path: '/detail', endpoint: 'detail' });

  expect(ledger.count({ endpoint: 'create' })).toBe(1);
  expect(ledger.count({ endpoint: 'detail' })).toBeLessThanOrEqual(100);
  expect(ledger.total('detail')).toBe(1000);
});

describe('a graph', () => {
  const load = { class_type: 'LoadImage', inputs: { image: '' } };
  const invert = { class_type: 'ImageInvert', inputs: { image: ['load', 0] } };
  const save = { class_type: 'SaveImage', inputs: { images: ['invert', 0], filename_prefix: 'x', format: 'png' } };

  it('puts its nodes in running order, separates values from links, and takes numbers given as text', () => {
    expect([...parseGraph({ save, invert, load }).keys()]).toEqual(['load', 'invert', 'save']);
    const blur = { class_type: 'ImageBlur', inputs: { image: ['load', 0], sigma: '2.5' } };
    const node = parseGraph({ load, invert: blur, save }).get('invert');
    expect(node?.values).toEqual({ sigma: 2.5 });
    expect(node?.links).toEqual({ image: { nodeId: 'load', slot: 0 } });
  });

  it.each([
    ['an unknown class', { load: { class_type: 'Nonsense', inputs: {} } }],
    ['a missing parameter', { load: { class_type: 'LoadImage', inputs: {} } }],
    ['an unknown parameter', { load: { class_type: 'LoadImage', inputs: { image: '', x: 1 } } }],
    ['a wrong value', { load, save: { ...save, inputs: { ...save.inputs, images: ['load', 0], format: 'gif' } } }],
    ['a missing link', { load, save: { ...save, inputs: { filename_prefix: 'x', format: 'png' } } }],
    ['a link to nowhere', { save }],
    ['a link to no output', { load, invert: { ...invert, inputs: { image: ['load', 1] } }, save }],
    ['a circle', { invert: { ...invert, inputs: { image: ['invert', 0] } }, save }],
    ['no node that keeps a result', { load }],
    ['a node id with a dot', { 'a.b': load }],
  ])('is refused for %s', (_case, graph) => {
    expect(() => parseGraph(graph)).toThrow();
  });
});

describe('input values', () => {
  const graph = parseGraph({
    '1': { class_type: 'LoadImage', inputs: { image: '' } },
    '2': { class_type: 'ImageBlur', inputs: { image: ['1', 0], sigma: 1 } },
    '3': { class_type: 'SaveImage', inputs: { images: ['2', 0], filename_prefix: 'x', format: 'png' } },
  });
  const resolve = (reference: string): string => {
    if (reference !== 'photo.png') throw new Refusal('badParameter', 'no such resource');
    return 'inputs/20260101/photo.png';
  };

  it.each([
    ['1:LoadImage.image', { nodeId: '1', className: 'LoadImage', parameter: 'image' }],
    ['27:LayerColor: Levels.channel', { nodeId: '27', className: 'LayerColor: Levels', parameter: 'channel' }],
    ['9:v1.5 Loader.seed', { nodeId: '9', className: 'v1.5 Loader', parameter: 'seed' }],
  ])('have keys that split at the first colon and the last dot: %s', (key, parts) => {
    expect(parseInputKey(key)).toEqual(parts);
  });

  it.each(['', 'image', '1:LoadImage', 'LoadImage.image', ':LoadImage.image', '1:.image', '1:LoadImage.', '.1:x'])(
    'are refused with the key %p',
    (key) => {
      expect(() => parseInputKey(key)).toThrow(Refusal);
    },
  );

  it('replace the values of the app for one task and leave the app as it is', () => {
    const changed = applyOverrides(graph, { '1:LoadImage.image': 'photo.png', '2:ImageBlur.sigma': '4' }, resolve);
    expect(changed.get('1')?.values).toEqual({ image: 'inputs/20260101/photo.png' });
    expect(changed.get('2')?.values).toEqual({ sigma: 4 });
    expect(graph.get('2')?.values).toEqual({ sigma: 1 });
  });

  it.each([
    {},
    { '1:LoadImage.image': 'other.png' },
    { '1:LoadImage.image': 'photo.png', '2:ImageBlur.sigma': 0 },
    { '1:LoadImage.image': 'photo.png', '2:ImageBlur.sigma': '1e' },
    { '1:LoadImage.image': 'photo.png', '2:ImageBlur.__proto__': 1 },
    { '1:LoadImage.image': 'photo.png', '2:ImageBlur.constructor': 1 },
  ] as Record<string, string | number>[])('are refused when they are %j', (inputValues) => {
    expect(() => applyOverrides(graph, inputValues, resolve)).toThrow(Refusal);
  });
});

it('the README has every app that comes with the service, and all its inputs with what they are by default', async () => {
  const readme = readFileSync(join(APPS_FOLDER, '../README.md'), 'utf8');
  const apps = await loadApps(APPS_FOLDER);
  expect([...apps.keys()]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  for (const { webAppId, name, graph } of apps.values()) {
    const line = readme.split('\n').find((one) => one.startsWith(`| ${webAppId} ${name} `)) ?? '';
    const nodes = [...graph.values()].filter(({ nodeClass }) => !nodeClass.className.startsWith('Save'));
    const inputs = nodes.flatMap(({ id, nodeClass: { className }, values }) =>
      Object.entries(values).map(([input, value]) => {
        const isFile = ['LoadImage.image', 'LoadFile.file'].includes(`${className}.${input}`);
        return `\`${id}:${className}.${input}\`${isFile ? '' : ` (\`${String(value)}\`)`}`;
      }),
    );
    expect(line.split(' | ').at(-1)?.replace(/ *\|$/, '')).toBe(inputs.join(', '));
  }
});

describe('a task', () => {
  const app: App = { webAppId: 1, name: 'app', description: 'an app', graph: new Map() };
  const newTask = (): Task =>
    new Task({ accountId: 'local', app, graph: app.graph, suppressesPreviews: false, scenarios: [] });
  const moveTo = (task: Task, state: Parameters<Task['moveTo']>[0]) => () => {
    task.moveTo(state);
  };

  it('moves only along the table of the specification', () => {
    const task = newTask();
    expect(moveTo(task, 'Success')).toThrow('cannot move from Queuing to Success');
    task.moveTo('Preparing');
    expect(moveTo(task, 'Queuing')).toThrow('cannot move');
    task.moveTo('Running');
    task.moveTo('Success');
    expect(() => {
      task.stop('Canceled');
    }).toThrow('cannot move from Success');
  });

  it('that has ended is remembered until so many others have: the oldest expire before their time', async () => {
    const expired: Task[] = [];
    const book = new TaskBook({ resultLifetimeMs: 60_000, keptTasks: 2, onExpired: (task) => expired.push(task) });
    const open = newTask();
    const ended = [newTask(), newTask(), newTask()];
    for (const task of [open, ...ended]) book.add(task);
    for (const task of ended) task.stop('Canceled');
    await Promise.all(ended.map((task) => task.whenEnded));
    book.close();

    expect(ended.every((task) => task.abort.signal.aborted)).toBe(true);
    expect(expired).toEqual([ended[0]]);
    expect([...book.all()]).toEqual([open, ended[1], ended[2]]);
    expect(() => book.get(ended[0]?.requestId ?? '', 'local')).toThrow('have expired');
  });
});
