import { loadWorkerConfig } from '../../../src/config/worker-config';
import type { S3Place } from '../../../src/core/uri';

function inputBucketsIn(env: NodeJS.ProcessEnv): readonly S3Place[] {
  const enough = { LONGHAUL_SERVICE_URL: 'https://service.example', LONGHAUL_API_KEY: 'key', LONGHAUL_ARCHIVE: '/srv' };
  return loadWorkerConfig({ ...enough, ...env }).config.inputBuckets;
}

describe('the buckets that a worker reads inputs from', () => {
  it('are the staging and those that are listed', () => {
    const env = {
      LONGHAUL_STAGING: 's3://photos/staging',
      LONGHAUL_INPUT_BUCKETS: 's3://films, s3://photos/raw/2026/',
    };
    expect(inputBucketsIn(env)).toEqual([
      { bucket: 'photos', key: 'staging' },
      { bucket: 'films', key: '' },
      { bucket: 'photos', key: 'raw/2026' },
    ]);
  });

  it('are none unless the environment says so, the archive not among them', () => {
    expect(inputBucketsIn({})).toEqual([]);
    expect(inputBucketsIn({ LONGHAUL_ARCHIVE: 's3://photos/results' })).toEqual([]);
  });

  it('must each be a place in a bucket', () => {
    const problem = /LONGHAUL_INPUT_BUCKETS is "s3:\/\/films.*several separated by commas/;
    expect(() => inputBucketsIn({ LONGHAUL_INPUT_BUCKETS: 's3://films, photos' })).toThrow(problem);
  });
});
