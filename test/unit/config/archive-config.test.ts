import path from 'node:path';
import { loadWorkerConfig, type WorkerConfig } from '../../../src/config/worker-config';

function archiveIn(text: string): WorkerConfig['archive'] {
  const enough = { LONGHAUL_SERVICE_URL: 'https://service.example', LONGHAUL_API_KEY: 'key' };
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
