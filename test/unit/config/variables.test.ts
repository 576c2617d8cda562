import path from 'node:path';
import { Environment, ignoredVariableWarnings } from '../../../src/config/environment';
import type { VariableName } from '../../../src/config/variables';

function read(name: VariableName, text: string): { readonly value: unknown; readonly problems: readonly string[] } {
  const { values, problems } = new Environment({ [name]: text }, [name]);
  return { value: values[name], problems };
}

const folder = (text: string): object => ({ kind: 'folder', path: path.resolve(text) });

describe('the text of a variable', () => {
  it.each<[VariableName, string, unknown]>([
    ['LONGHAUL_ARCHIVE', 'archive', folder('archive')],
    ['LONGHAUL_ARCHIVE', 'C:\\archive', folder('C:\\archive')],
    ['LONGHAUL_ARCHIVE', './s3:photos', folder('s3:photos')],
    ['LONGHAUL_ARCHIVE', '~photos', folder('~photos')],
    ['LONGHAUL_ARCHIVE', '"photos"x', folder('"photos"x')],
    ['LONGHAUL_ARCHIVE', 'US$', folder('US$')],
    ['LONGHAUL_ARCHIVE', 's3://photos/', { kind: 's3', bucket: 'photos', prefix: '' }],
    ['LONGHAUL_ARCHIVE', 's3://my.photos-2/a b/c/', { kind: 's3', bucket: 'my.photos-2', prefix: 'a b/c' }],
    ['LONGHAUL_INPUT_ROOTS', ['/photos', 'more', ''].join(path.delimiter), ['/photos', path.resolve('more')]],
    ['LONGHAUL_INPUT_HOSTS', 'NAS.local, 10.0.0.7:9000', ['nas.local', '10.0.0.7:9000']],
    ['LONGHAUL_HEALTH_ADDRESS', '[::]:8090', { host: '::', port: 8090 }],
    ['LONGHAUL_METRICS', 'http://collector:4317', { kind: 'otlp', url: 'http://collector:4317' }],
    ['LONGHAUL_METRICS', '127.0.0.1:9464', { kind: 'prometheus', address: '127.0.0.1:9464' }],
    ['LONGHAUL_BUILD_ID', '1.2.3', { deploymentName: 'longhaul', buildId: '1.2.3' }],
    ['LONGHAUL_BUILD_ID', 'studio/v2', { deploymentName: 'studio', buildId: 'v2' }],
    ['LONGHAUL_SERVICE_URL', 'https://service.example/v/', 'https://service.example/v'],
    ['LONGHAUL_UMASK', '027', 0o027],
    ['LONGHAUL_LOG_LEVEL', ' ', 'info'],
    ['LONGHAUL_HEALTH_ADDRESS', '', null],
    ['LONGHAUL_CREATES_PER_SECOND', '', 50],
  ])('%s=%s is read', (name, text, value) => {
    expect(read(name, text)).toEqual({ value, problems: [] });
  });

  const unread = ['"/srv/photos"', "'/srv/photos'", '""', '~/photos', '~', '$HOME/photos', '${HOME}', '/srv\n/photos'];

  it.each<[VariableName, readonly string[]]>([
    ['LONGHAUL_SERVICE_URL', ['service.example', 'ftp://service.example']],
    ['LONGHAUL_ARCHIVE', [...unread, 'file:/srv', 's3:photos', 's3://My_Bucket/a', 's3:///a', 's3://photos/a/../b']],
    ['LONGHAUL_ARCHIVE', ['gs://photos/a', 'https://host/archive']],
    ['LONGHAUL_INPUT_ROOTS', [...unread.map((text) => `/srv/a${path.delimiter}${text}`), '"/srv/a:/srv/b"']],
    ['LONGHAUL_INPUT_BUCKETS', ['s3://films, photos']],
    ['LONGHAUL_STAGING', ['/srv/staging', 's3://', 's3://Photos', 's3://photos/a//b', 'https://photos.example']],
    ['LONGHAUL_INPUT_HOSTS', ['nas.local/photos', '*.local', 'http://nas.local']],
    ['LONGHAUL_S3_PATH_STYLE', ['yes']],
    ['LONGHAUL_MAX_OUTPUT_BYTES', ['0']],
    ['LONGHAUL_MAX_TASK_BYTES', ['0']],
    ['LONGHAUL_CREATES_PER_SECOND', ['0', '10001', '0.001']],
    ['LONGHAUL_POLLS_PER_SECOND', ['a lot']],
    ['LONGHAUL_HEALTH_ADDRESS', ['8090', '127.0.0.1:65536', 'all:1']],
    ['LONGHAUL_SLOTS', ['upload=1', 'uploads=1,uploads=2', 'pollers=1', 'workflowTasks=121', 'toString=5']],
    ['LONGHAUL_LOG_LEVEL', ['verbose']],
    ['LONGHAUL_ALLOW_ACCOUNTS', ['a b', ',']],
    ['LONGHAUL_REFUSE', ['all']],
    ['LONGHAUL_UMASK', ['777', '8']],
    ['LONGHAUL_BUILD_ID', ['a:b', 'two words', 'a.b/v2']],
    ['LONGHAUL_SERVICE_DIALECT', ['header=X-Acme Task-', 'header=X-Acme', '41007=FULL']],
    ['LONGHAUL_WEB_UI_URL', ['localhost']],
    ['LONGHAUL_CALLBACK_URL', ['longhaul.example']],
    ['LONGHAUL_CALLBACK_PORT', ['http', '65536']],
    ['LONGHAUL_CODEC_ADDRESS', ['8081']],
    ['LONGHAUL_CODEC_ORIGINS', ['*', 'null']],
  ])('%s is refused with its value and the remedy where it cannot be used', (name, texts) => {
    for (const text of texts) {
      const { problems } = read(name, text);
      expect(problems).toEqual([expect.stringContaining(`${name} is `)]);
      const shown = text.includes('://') ? '' : JSON.stringify(text);
      expect(problems[0]).toContain(`${name} is ${shown}`);
      expect(problems[0]).toMatch(/; give .*\.$/);
    }
  });

  it.each<[VariableName, string, RegExp]>([
    [
      'LONGHAUL_SERVICE_URL',
      'https://user:pw-0815@s.example/?a=1',
      /"https:\/\/s\.example\/", which has credentials before its host and a query; give/,
    ],
    ['LONGHAUL_WEB_UI_URL', 'https://s.example/#a', /which has a fragment; give/],
    ['LONGHAUL_TRACES_OTLP_URL', 'ftp://s.example', /which has the scheme ftp instead of http or https; give/],
    ['LONGHAUL_CALLBACK_URL', 'https://a.example/?t=pw-0815', /which has a query; give/],
    ['LONGHAUL_CALLBACK_URL', 'https://a.example/health', /path not "\/health"/],
    ['LONGHAUL_CALLBACK_URL', 'https://a.example/ready', /"\/ready"/],
    ['LONGHAUL_ARCHIVE', 's3://photos/a?X-Key=pw-0815', /^LONGHAUL_ARCHIVE is "s3:\/\/photos\/a"; give/],
    ['LONGHAUL_CODEC_ORIGINS', 'https://temporal.example/path', /^LONGHAUL_CODEC_ORIGINS is "https/],
    ['LONGHAUL_API_KEY', 'key pw-0815', /^LONGHAUL_API_KEY is \[redacted\]; give .* without spaces/],
    ['LONGHAUL_CALLBACK_TOKEN', 'pw-0815', /is \[redacted\]; .*without spaces/],
    ['LONGHAUL_CALLBACK_TOKEN', 'token of pw-0815 is long', /is \[redacted\]/],
    ['LONGHAUL_CALLBACK_TOKEN', Array(3).fill('token-pw-0815-and-more').join(','), /is \[redacted\]/],
    ['LONGHAUL_CALLBACK_TOKEN', 'token-pw-0815-and-more,', /is \[redacted\]/],
    ['LONGHAUL_CODEC_TOKEN', 'pw-0815', /^LONGHAUL_CODEC_TOKEN is \[redacted\]/],
  ])('%s shows nothing secret of %s', (name, text, words) => {
    const { problems } = read(name, text);
    expect(problems).toEqual([expect.stringMatching(words)]);
    expect(problems[0]).not.toContain('pw-0815');
  });
});

it('a misspelt variable is warned of, with the nearest known name', () => {
  const env = {
    LONGHAUL_INPUT_ROOT: '/photos',
    LONGHAUL_TASK_QUEUE: 'gpu',
    LONGHAUL_ZZZZZZZZZZZZZ: '1',
    LONGHAUL_TOOLS: '/t',
    LONGHAUL_TEST_X: '1',
  };
  expect(ignoredVariableWarnings(env)).toEqual([
    'Unknown variable LONGHAUL_INPUT_ROOT is ignored; did you mean LONGHAUL_INPUT_ROOTS?',
    'Unknown variable LONGHAUL_TASK_QUEUE is ignored; give --task-queue, or taskQueue in the library',
    'Unknown variable LONGHAUL_ZZZZZZZZZZZZZ is ignored',
  ]);
});
