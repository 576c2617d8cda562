import { parseGraph } from '../../../reference-service/apps/graph';
import { applyOverrides, parseInputKey } from '../../../reference-service/apps/overrides';
import { Refusal } from '../../../reference-service/refusal';

const graph = parseGraph({
  '1': { class_type: 'LoadImage', inputs: { image: '' } },
  '2': { class_type: 'ImageBlur', inputs: { image: ['1', 0], sigma: 1 } },
  '3': { class_type: 'SaveImage', inputs: { images: ['2', 0], filename_prefix: 'x', format: 'png' } },
});
const resolve = (reference: string): string => {
  if (reference !== 'photo.png') throw new Refusal('badParameter', 'no such resource');
  return 'inputs/20260101/photo.png';
};

describe('an input key', () => {
  it.each([
    ['1:LoadImage.image', { nodeId: '1', className: 'LoadImage', parameter: 'image' }],
    ['27:LayerColor: Levels.channel', { nodeId: '27', className: 'LayerColor: Levels', parameter: 'channel' }],
    ['9:v1.5 Loader.seed', { nodeId: '9', className: 'v1.5 Loader', parameter: 'seed' }],
  ])('%s splits at its first colon and its last dot', (key, parts) => {
    expect(parseInputKey(key)).toEqual(parts);
  });

  it.each(['', 'image', '1:LoadImage', 'LoadImage.image', ':LoadImage.image', '1:.image', '1:LoadImage.', '.1:x'])(
    '%p is refused',
    (key) => {
      expect(() => parseInputKey(key)).toThrow(Refusal);
    },
  );
});

describe('input values', () => {
  it('replace the values of the app for one task and leave the app as it is', () => {
    const changed = applyOverrides(graph, { '1:LoadImage.image': 'photo.png', '2:ImageBlur.sigma': '4' }, resolve);

    expect(changed.get('1')?.values).toEqual({ image: 'inputs/20260101/photo.png' });
    expect(changed.get('2')?.values).toEqual({ sigma: 4 });
    expect(graph.get('2')?.values).toEqual({ sigma: 1 });
    expect([...changed.keys()]).toEqual(['1', '2', '3']);
  });

  it.each([
    ['must name an input resource', {}],
    ['no such resource', { '1:LoadImage.image': 'other.png' }],
    ['at least 0.3', { '1:LoadImage.image': 'photo.png', '2:ImageBlur.sigma': 0 }],
    ['must be a number', { '1:LoadImage.image': 'photo.png', '2:ImageBlur.sigma': '1e' }],
    ['it has: sigma', { '1:LoadImage.image': 'photo.png', '2:ImageBlur.__proto__': 1 }],
    ['it has: sigma', { '1:LoadImage.image': 'photo.png', '2:ImageBlur.constructor': 1 }],
  ])('are refused with "%s"', (words, inputValues) => {
    expect(() => applyOverrides(graph, inputValues, resolve)).toThrow(words);
  });
});
