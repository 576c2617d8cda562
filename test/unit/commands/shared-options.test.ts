import { InputInvalidError } from '../../../src/client/errors';
import { readInputs } from '../../../src/commands/shared-options';

const cwd = '/home/ada/photos';

function problemsOf(options: Parameters<typeof readInputs>[0]): readonly string[] {
  try {
    readInputs(options, cwd);
  } catch (error) {
    if (error instanceof InputInvalidError) return error.problems;
    throw error;
  }
  return [];
}

describe('an input on the command line', () => {
  it.each<[string, unknown]>([
    ['512', 512],
    ['9007199254740993', '9007199254740993'],
    ['', ''],
    ['true', 'true'],
    ['a=b', 'a=b'],
    ['@cat.jpg', { file: '/home/ada/photos/cat.jpg' }],
    ['@../dog.jpg', { file: '/home/ada/dog.jpg' }],
    ['@/srv/cat.jpg', { file: '/srv/cat.jpg' }],
    ['@https://photos.example/cat.jpg', { file: 'https://photos.example/cat.jpg' }],
    ['@s3://bucket/cat.jpg', { file: 's3://bucket/cat.jpg' }],
    ['@', { file: '' }],
  ])('%s is sent as what it looks like', (value, expected) => {
    expect(readInputs({ input: [`1:Node.value=${value}`] }, cwd)).toEqual({ '1:Node.value': expected });
  });

  it('is text when it is given as text, whatever it looks like', () => {
    expect(readInputs({ string: ['1:Text.text=512', '2:Text.text=@ada'] }, cwd)).toEqual({
      '1:Text.text': '512',
      '2:Text.text': '@ada',
    });
  });

  it('is refused where it is a path of Windows, with and without the mark of a file', () => {
    const words = 'is a path of Windows, with a drive; give the path that the file has on the worker’s machine';
    expect(problemsOf({ input: ['1:Load.image=@C:\\x.png', '2:Load.image=c:/x.png'] })).toEqual([
      `-i "1:Load.image=@C:\\\\x.png" ${words}: -i 1:Load.image=@/PATH.`,
      `-i "2:Load.image=c:/x.png" ${words}: -i 2:Load.image=@/PATH; or send it as text: -s 2:Load.image=TEXT.`,
    ]);
    expect(readInputs({ input: ['1:Load.image=@./C:\\x.png'], string: ['2:Text.text=C:\\x.png'] }, cwd)).toEqual({
      '1:Load.image': { file: `${cwd}/C:\\x.png` },
      '2:Text.text': 'C:\\x.png',
    });
  });

  it('can be a file in another form', () => {
    const options = { input: ['1:Load.image=@a.jpg', '2:Load.id=@b.jpg'], as: ['1:Load.image=name', '2:Load.id=id'] };

    expect(readInputs(options, cwd)).toEqual({
      '1:Load.image': { file: `${cwd}/a.jpg`, as: 'name' },
      '2:Load.id': { file: `${cwd}/b.jpg`, as: 'id' },
    });
  });

  it('that is malformed is reported together with all the others', () => {
    const options = {
      input: ['no-value', '=5', '1:Load.image=@a.jpg', '2:Node.value=1'],
      string: ['2:Node.value=2'],
      as: ['1:Load.image=link', '2:Node.value=name', '3:Load.image=id'],
    };

    expect(problemsOf(options)).toEqual([
      '-i "no-value" is not KEY=VALUE.',
      '-i "=5" is not KEY=VALUE.',
      'The input "2:Node.value" is given twice.',
      '--as "1:Load.image=link" is not KEY=url, KEY=name or KEY=id.',
      '--as "2:Node.value=name": there is no -i 2:Node.value=@FILE.',
      '--as "3:Load.image=id": there is no -i 3:Load.image=@FILE.',
    ]);
  });
});
