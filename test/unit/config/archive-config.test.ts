import path from 'node:path';
import { loadWorkerConfig, type WorkerConfig } from '../../../src/config/worker-config';

const enough = { LONGHAUL_SERVICE_URL: 'https://service.example', LONGHAUL_API_KEY: 'key' };

function archiveIn(text: string): WorkerConfig['archive'] {
  return loadWorkerConfig({ ...enough, LONGHAUL_ARCHIVE: text }).config.archive;
}

describe('the archive of a worker', () => {
  it.each(['archive', 'ab:1', './s3:photos', 'C:\\archive'])('may be the folder %j', (text) => {
    expect(archiveIn(text)).toEqual({ kind: 'folder', path: path.resolve(text) });
  });

  it.each(['file:/srv/archive', 's3:photos', 'https://host/archive', 'gs://photos'])('is none at %j', (text) => {
    expect(() => archiveIn(text)).toThrow(`LONGHAUL_ARCHIVE is ${JSON.stringify(text)}; give`);
  });
});

/** As a file of variables has them that no shell reads, such as that of `docker run --env-file`. */
const unread = [
  '"/srv/photos"',
  "'/srv/photos'",
  '""',
  '~/photos',
  '~',
  '$HOME/photos',
  '${HOME}/photos',
  '/srv\n/photos',
];

describe('a folder in words that only a shell would have understood', () => {
  it.each(unread)('is no archive beside the one that is meant: %j', (text) => {
    expect(() => archiveIn(text)).toThrow(
      `LONGHAUL_ARCHIVE is ${JSON.stringify(text)}; give the path of a folder, or "s3://bucket/prefix", without quotes, "~" or "$".`,
    );
  });

  it.each([...unread.map((text) => `/srv/a${path.delimiter}${text}`), `"/srv/a${path.delimiter}/srv/b"`])(
    'is no folder of inputs: %j',
    (roots) => {
      expect(() => loadWorkerConfig({ ...enough, LONGHAUL_ARCHIVE: '/srv/b', LONGHAUL_INPUT_ROOTS: roots })).toThrow(
        `LONGHAUL_INPUT_ROOTS is ${JSON.stringify(roots)}; give folders separated by "${path.delimiter}", without quotes, "~" or "$".`,
      );
    },
  );

  it.each(['~photos', 'a~', 'US$', '$', "o'clock", '"photos'])('is not what a name merely looks like: %j', (text) => {
    expect(archiveIn(text)).toEqual({ kind: 'folder', path: path.resolve(text) });
  });
});
