import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { APPS_FOLDER, loadApps } from '../../../reference-service/apps/app-catalog';
import { parseGraph } from '../../../reference-service/apps/graph';

const load = { class_type: 'LoadImage', inputs: { image: '' } };
const invert = { class_type: 'ImageInvert', inputs: { image: ['load', 0] } };
const save = { class_type: 'SaveImage', inputs: { images: ['invert', 0], filename_prefix: 'x', format: 'png' } };

describe('a graph', () => {
  it('puts its nodes in running order, whatever the order they are written in', () => {
    expect([...parseGraph({ save, invert, load }).keys()]).toEqual(['load', 'invert', 'save']);
  });

  it('separates values from links and takes numbers given as text', () => {
    const blur = { class_type: 'ImageBlur', inputs: { image: ['load', 0], sigma: '2.5' } };
    const node = parseGraph({ load, invert: blur, save }).get('invert');

    expect(node?.values).toEqual({ sigma: 2.5 });
    expect(node?.links).toEqual({ image: { nodeId: 'load', slot: 0 } });
  });

  it.each([
    ['an unknown class', { load: { class_type: 'Nonsense', inputs: {} } }, 'unknown class Nonsense'],
    ['a missing parameter', { load: { class_type: 'LoadImage', inputs: {} } }, 'parameter image is missing'],
    ['an unknown parameter', { load: { class_type: 'LoadImage', inputs: { image: '', x: 1 } } }, 'no such parameter'],
    [
      'a wrong value',
      { load, save: { ...save, inputs: { ...save.inputs, images: ['load', 0], format: 'gif' } } },
      'must be one of',
    ],
    [
      'a missing link',
      { load, save: { ...save, inputs: { filename_prefix: 'x', format: 'png' } } },
      'link images is missing',
    ],
    ['a link to nowhere', { save }, 'needs IMAGE'],
    [
      'a link to an output that is not there',
      { load, invert: { ...invert, inputs: { image: ['load', 1] } }, save },
      'needs IMAGE',
    ],
    ['a circle', { invert: { ...invert, inputs: { image: ['invert', 0] } }, save }, 'linked to itself'],
    ['no node that keeps a result', { load }, 'no node that keeps a result'],
    ['a node id with a dot', { 'a.b': load }, 'node id'],
  ])('is refused for %s', (_case, graph, words) => {
    expect(() => parseGraph(graph)).toThrow(words);
  });
});

describe('the apps that come with the service', () => {
  it('are all in order, under the ids that the README gives them', async () => {
    const apps = await loadApps(APPS_FOLDER);

    expect([...apps.keys()]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  });
});

describe('the README of the service', () => {
  const readme = readFileSync(join(APPS_FOLDER, '../README.md'), 'utf8');

  it('has every app and all its inputs, with what they are by default', async () => {
    const files = new Set(['LoadImage.image', 'LoadFile.file']);
    for (const { webAppId, name, graph } of (await loadApps(APPS_FOLDER)).values()) {
      const line = readme.split('\n').find((one) => one.startsWith(`| ${webAppId} ${name} `)) ?? '';
      const nodes = [...graph.values()].filter(({ nodeClass }) => !nodeClass.className.startsWith('Save'));
      const inputs = nodes.flatMap(({ id, nodeClass: { className }, values }) =>
        Object.entries(values).map(([input, value]) => {
          const isFile = files.has(`${className}.${input}`);
          return `\`${id}:${className}.${input}\`${isFile ? '' : ` (\`${String(value)}\`)`}`;
        }),
      );
      expect(line.split(' | ').at(-1)?.replace(/ *\|$/, '')).toBe(inputs.join(', '));
    }
  });
});
