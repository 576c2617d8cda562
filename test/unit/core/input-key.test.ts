import fc from 'fast-check';
import { parseInputKey } from '../../../src/core/input-values';

describe('parseInputKey', () => {
  it.each([
    ['1:LoadImage.image', '1', 'LoadImage', 'image'],
    ['27:LayerColor: Levels.channel', '27', 'LayerColor: Levels', 'channel'],
    ['3:My.Dotted.Class.width', '3', 'My.Dotted.Class', 'width'],
    ['12:34:Class.parameter', '12', '34:Class', 'parameter'],
    ['node-a:节点.宽度', 'node-a', '节点', '宽度'],
  ])('splits %s at its first colon and its last dot', (key, nodeId, nodeClass, parameter) => {
    expect(parseInputKey(key)).toEqual({ nodeId, nodeClass, parameter });
  });

  it.each([
    ['', 'nothing'],
    ['image', 'neither colon nor dot'],
    ['1:LoadImage', 'no parameter'],
    ['LoadImage.image', 'no node id'],
    [':LoadImage.image', 'an empty node id'],
    [' :LoadImage.image', 'a blank node id'],
    ['1:.image', 'an empty class'],
    ['1: .image', 'a blank class'],
    ['1:LoadImage.', 'an empty parameter'],
    ['1:LoadImage. ', 'a blank parameter'],
    ['1.5:LoadImage', 'its only dot before the colon'],
  ])('refuses %j, which has %s', (key) => {
    expect(parseInputKey(key)).toBeUndefined();
  });

  it('loses no character of any key that it takes', () => {
    const part = fc.string({ minLength: 1 }).filter((text) => text.trim() !== '');
    fc.assert(
      fc.property(part, part, part, (nodeId, nodeClass, parameter) => {
        const key = `${nodeId}:${nodeClass}.${parameter}`;
        const parsed = parseInputKey(key);
        fc.pre(parsed !== undefined);
        expect(`${parsed.nodeId}:${parsed.nodeClass}.${parsed.parameter}`).toBe(key);
        expect(parsed.nodeId).not.toContain(':');
        expect(parsed.parameter).not.toContain('.');
      }),
    );
  });
});
