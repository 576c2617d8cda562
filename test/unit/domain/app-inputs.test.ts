import { AppInputNames, InputShapes, joinInputs } from '../../../src/domain/app-inputs';
import { appSamplesName, parseFigures, parseInputs, withBatch } from '../../../src/formats/app-samples';

const image = '1:LoadImage.image';
const width = '2:ImageScale.width';
const seed = '3:Seed.seed';

describe('the inputs of rows that succeeded', () => {
  it('are those that every one had and those that any had, over rows and batches', () => {
    const names = new AppInputNames();
    names.add(5, [image, width]);
    names.add(5, [image, width, seed]);
    names.add(7, [seed]);

    expect(names.get(5)).toEqual({ rows: 2, every: [image, width], some: [image, width, seed] });
    expect(names.get(6)).toBeNull();
    const other = { rows: 40, every: [image], some: [image] };
    expect(joinInputs([names.get(5)!, other])).toEqual({ rows: 42, every: [image], some: [image, width, seed] });
    expect(joinInputs([])).toBeNull();
  });

  it('are not known of an app whose rows have more than two hundred', () => {
    const names = new AppInputNames();
    for (let index = 0; index < 300; index += 1) names.add(5, [`${index}:A.b`]);
    expect(names.get(5)).toBeNull();
  });

  it('stand in the file of the app’s samples, which is read as well without them and when they are damaged', () => {
    const inputs = { rows: 2, every: [image], some: [image, width] };
    const samples = { webAppId: 5, rows: 1, samples: [{ ms: 5, cost: null }] };
    const old = withBatch(undefined, 'old', samples);
    expect(parseInputs(old)).toBeNull();
    const text = withBatch(old, 'new', { ...samples, inputs });
    expect(parseInputs(text)).toEqual(inputs);
    expect(parseFigures(5, text)).toMatchObject({ rows: 2 });
    const damaged = JSON.stringify({
      batches: [{ batchId: 'b', rows: 1, samples: [], inputs: { rows: -1, some: 7 } }],
    });
    expect(parseInputs(damaged)).toBeNull();
    expect(parseFigures(5, damaged)).toMatchObject({ rows: 1 });
    expect(appSamplesName(5)).toBe('.estimates/5.json');
  });
});

describe('rows with unusual inputs', () => {
  const earlier = new Map([[5, { rows: 40, every: [image, width], some: [image, width, seed] }]]);

  it('are told by input: what every earlier row had, and what none had', () => {
    const shapes = new InputShapes();
    shapes.add(5, { line: 2 }, [width, image]);
    shapes.add(5, { line: 3 }, [image, seed]);
    shapes.add(5, { line: 4 }, [seed, image]);
    shapes.add(5, { line: 5 }, [image, width, '2:ImageScale.widht']);
    shapes.add(6, { line: 6 }, []);

    expect(shapes.unusual(earlier)).toEqual([
      { webAppId: 5, key: width, kind: 'missing', rows: 2, line: 3, earlierRows: 40 },
      { webAppId: 5, key: '2:ImageScale.widht', kind: 'new', rows: 1, line: 5, earlierRows: 40 },
    ]);
    expect(shapes.unusual(new Map())).toEqual([]);
  });

  it('are told of twenty inputs, and of a hundred kinds of rows', () => {
    const shapes = new InputShapes();
    for (let index = 0; index < 1_000; index += 1) shapes.add(5, { line: index }, [image, width, `${index}:A.b`]);
    expect(shapes.unusual(earlier)).toHaveLength(20);
  });
});
