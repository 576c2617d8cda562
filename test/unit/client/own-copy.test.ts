import { Readable } from 'node:stream';
import { ownCopy } from '../../../src/client/start-check';

describe('the copy of what a start is given', () => {
  it('says the same, and nothing that is done to the original changes it', () => {
    const given = {
      ...{ key: 'a', webAppId: 1, inputs: { '1:A.b': 'c', '2:A.b': { file: '/a.png' } } },
      batch: { id: 'b', key: 'k', names: { template: '{index}', columns: { size: 'big' } } },
    };
    const before = structuredClone(given);
    const copy = ownCopy(given);
    expect(copy).toEqual(before);

    given.inputs['2:A.b'].file = '/b.png';
    given.batch.names.columns.size = 'small';
    expect(copy).toEqual(before);
  });

  it('has the very contents, which are not copied', () => {
    const inputs = {
      ...{ a: { content: Buffer.from('x'), name: 'a.png' }, b: { content: Readable.from(['x']), name: 'b.png' } },
      ...{ c: Readable.from(['x']), d: Buffer.from('x') },
    };
    const copy = ownCopy({ inputs }).inputs;
    expect(copy.a.content).toBe(inputs.a.content);
    expect(copy.b.content).toBe(inputs.b.content);
    expect([copy.c, copy.d]).toEqual([inputs.c, inputs.d]);
    expect(copy.c).toBe(inputs.c);
  });

  it('of what is no input is that, for the check to refuse', () => {
    const [map, date] = [new Map([['a', 1]]), new Date(0)];
    for (const given of [undefined, 'text', map, date]) expect(ownCopy(given)).toBe(given);
    const endless: Record<string, unknown> = {};
    endless['self'] = endless;
    expect(ownCopy(endless)).toHaveProperty('self.self.self');
  });
});
