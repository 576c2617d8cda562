import { InputInvalidError } from '../../../../src/client/errors';
import { checkedStart } from '../../../../src/client/start-check';
import { staticDetails, staticSummary } from '../../../../src/client/task/start-task';
import { parseTaskInput } from '../../../../src/contract/parse-task-input';
import type { TaskPlan } from '../../../../src/contract/parse-task-input';

const task = { key: 'mine', webAppId: 7, inputs: {} };

function problemsOf(input: object): readonly string[] {
  try {
    checkedStart({ ...task, ...input });
  } catch (error) {
    if (error instanceof InputInvalidError) return error.problems;
    throw error;
  }
  return [];
}

describe('a task that is started by itself', () => {
  it('may archive into any folder that is not a batch’s', () => {
    expect(problemsOf({ archive: 'campaign-7' })).toEqual([]);
    expect(problemsOf({ archive: 'batches/nb/results/mine' })).toEqual([
      expect.stringMatching(/^archive is "batches\/nb\/results\/mine", which is reserved/),
    ]);
  });

  it('has known fields, which are those that a caller may set', () => {
    const [problem = ''] = problemsOf({ input: {} });
    expect(problem).toMatch(/^Unknown field "input"; did you mean inputs\? Known are key, .*\binputs\b/);
    expect(problem).not.toMatch(/createNumber|batch/);
  });

  it('has no field of an adoption, unless it may be meant as one', () => {
    expect(problemsOf({ abort: true })).toEqual([expect.not.stringContaining('adopt')]);
    expect(problemsOf({ adopt: undefined })).toEqual([]);
    const [problem] = problemsOf({ inputs: undefined, adpot: { requestId: 'r-1' } });
    expect(problem).toMatch(/^Unknown field "adpot"; did you mean adopt\?/);
  });

  it.each(['photo.jpg', './photo.jpg', '../photo.jpg', 'ab:1.png', 'C:photo.jpg', '~/photo.jpg'])(
    'is refused with the relative path %s, which the workers would look for in folders of their own',
    (file) => {
      expect(problemsOf({ inputs: { '1:LoadImage.image': { file } } })).toEqual([
        `inputs["1:LoadImage.image"].file is ${JSON.stringify(file)}, a relative path; give the absolute path on the worker’s machine, an https: URL or an s3: URI, or from a client with a staging place { content, name: "photo.jpg" }.`,
      ]);
    },
  );

  it.each(['/srv/photo.jpg', 'C:\\photos\\1.jpg', 'https://photos.example/1.jpg', 's3://photos/1.jpg'])(
    'takes the file %s',
    (file) => {
      expect(problemsOf({ inputs: { '1:LoadImage.image': { file } } })).toEqual([]);
    },
  );

  it('tells every relative path beside what else is wrong', () => {
    const inputs = { '1:LoadImage.image': { file: 'a.jpg' }, '2:LoadImage.image': { file: 'b.jpg' } };
    expect(problemsOf({ webAppId: 0, inputs })).toEqual([
      expect.stringMatching(/^webAppId is 0/),
      expect.stringMatching(/^inputs\["1:LoadImage\.image"\]\.file is "a\.jpg", a relative path/),
      expect.stringMatching(/^inputs\["2:LoadImage\.image"\]\.file is "b\.jpg", a relative path/),
    ]);
  });

  it('is no row of a batch, whatever it says', () => {
    expect(problemsOf({ batch: { id: 'nb', key: 'a' } })).toEqual([
      'batch is there, and only Longhaul sets it; leave it out.',
      expect.stringMatching(/^batch is {"id":"nb","key":"a"}, but the workflow "task:mine" is not that row/),
    ]);
  });
});

function planOf(input: unknown): TaskPlan {
  const { plan, problems } = parseTaskInput(input);
  if (plan === undefined) throw new Error(problems.join('\n'));
  return plan;
}

describe('what the Web UI shows of a task from its start on', () => {
  const plan = planOf({
    webAppId: 7,
    archive: 'campaign',
    inputs: { '1:LoadImage.image': { file: '/photos/cat.jpg' }, '2:Text.text': 'a | b\nc' },
  });

  it('is a summary with app, key, inputs and file names', () => {
    expect(staticSummary('order-1', plan)).toBe('App 7 (order-1), 2 inputs: cat.jpg');
    expect(staticSummary('r-1', planOf({ adopt: { requestId: 'r-1' } }))).toBe('Task r-1, adopted (r-1)');
  });

  it('is a list of the inputs that a value cannot break', () => {
    expect(staticDetails(plan).split('\n')).toEqual([
      '**Account** default, **archive folder** campaign',
      '',
      '- `1:LoadImage.image`: `file /photos/cat.jpg (as url)`',
      '- `2:Text.text`: `"a | b\\nc"`',
    ]);
  });

  it('shows links, pictures and formatting in keys, names and values as they are written', () => {
    const evil = '[click](http://evil.example) ![x](http://evil.example/x.png) <img src=x> **x**';
    const file = `/photos/[click](http:evil) www.evil.example.jpg`;
    const hostile = planOf({
      webAppId: 7,
      inputs: { '1:LoadImage.image': { file }, '2:Text.[x](y)': evil },
    });

    const pages = [staticSummary(evil.slice(0, 30), hostile), staticDetails(hostile)];

    const withoutCode = pages.join('\n').replace(/(`+)[^`\n]+\1/g, '');
    expect(withoutCode).not.toMatch(/evil|[<[!]/);
  });

  it('stays small however much is given', () => {
    const inputs = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`${i}:Text.text`, 'x'.repeat(500)]));
    const large = planOf({ webAppId: 7, inputs });

    expect(staticDetails(large).length).toBeLessThan(8_000);
    expect(staticDetails(large)).toContain('- and 460 more');
    expect(staticSummary('k'.repeat(80), large).length).toBeLessThanOrEqual(160);
  });

  it.each(['漢', '`', '"', '\u202e', '😀'])('keeps within what Temporal takes when everything is %j', (character) => {
    const text = character.repeat(1_000);
    const inputs = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`${i}:Text.text`, text]));
    const files = { '60:LoadImage.image': { file: `/${text}` } };
    const plan = planOf({ webAppId: Number.MAX_SAFE_INTEGER, inputs: { ...inputs, ...files } });

    expect(Buffer.byteLength(JSON.stringify(staticSummary(text, plan)))).toBeLessThan(370);
    expect(Buffer.byteLength(JSON.stringify(staticDetails(plan)))).toBeLessThan(19_900);
  });
});
