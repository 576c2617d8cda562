import { ConnectionRule } from '../../../src/storage/connection-rule';
import { UploadError } from '../../../src/storage/errors';
import { readUploadEndpoint } from '../../../src/storage/upload-client';

function read(endpoint: string, bucket = 'b', region = 'oss-cn-x', hosts: readonly string[] = []) {
  return readUploadEndpoint({ endpoint, bucket, region }, new ConnectionRule({ hosts }));
}

describe('readUploadEndpoint', () => {
  it.each([
    ['oss-cn-x.example', 'https://oss-cn-x.example', 'b.oss-cn-x.example'],
    ['https://oss-cn-x.example', 'https://oss-cn-x.example', 'b.oss-cn-x.example'],
    ['b.oss-cn-x.example', 'https://oss-cn-x.example', 'b.oss-cn-x.example'],
    ['oss-cn-x.example:8443', 'https://oss-cn-x.example:8443', 'b.oss-cn-x.example'],
    ['https://cname.example/', 'https://cname.example', 'b.cname.example'],
    ['http://oss-cn-x.localhost:9000', 'http://oss-cn-x.localhost:9000', 'b.oss-cn-x.localhost'],
    ['http://b.oss-cn-x.localhost:9000', 'http://oss-cn-x.localhost:9000', 'b.oss-cn-x.localhost'],
    ['http://localhost:9000', 'http://localhost:9000', 'b.localhost'],
  ])('reads %s', (endpoint, url, bucketHost) => {
    expect(read(endpoint)).toEqual({ url, bucketHost, isConfigured: false, isPathStyle: false, signingRegion: 'cn-x' });
  });

  it.each([
    ['https://203.0.113.7', 'https://203.0.113.7', '203.0.113.7'],
    ['203.0.113.7:8443', 'https://203.0.113.7:8443', '203.0.113.7'],
    ['[2001:db8::7]', 'https://[2001:db8::7]', '[2001:db8::7]'],
    ['http://127.0.0.1:9000', 'http://127.0.0.1:9000', '127.0.0.1'],
    ['http://[::1]:9000', 'http://[::1]:9000', '[::1]'],
  ])('reads %s, an IP address, for path style', (endpoint, url, bucketHost) => {
    expect(read(endpoint)).toEqual({ url, bucketHost, isConfigured: false, isPathStyle: true, signingRegion: 'cn-x' });
  });

  it('strips the prefix of the region once, and only a prefix', () => {
    expect(read('h', 'b', 'oss-cn-x').signingRegion).toBe('cn-x');
    expect(read('h', 'b', 'cn-oss-x').signingRegion).toBe('cn-oss-x');
  });

  it.each(['http://oss-cn-x.example', 'http://10.0.0.1:9000', 'http://localhost.example', 'ftp://h', 'a b', ''])(
    'refuses %j',
    (endpoint) => {
      expect(() => read(endpoint)).toThrow(UploadError);
    },
  );

  it.each([
    ['http://oss.internal:9000', 'oss.internal'],
    ['http://oss.internal:9000', 'oss.internal:9000'],
    ['http://oss.internal:9000', 'b.oss.internal'],
    ['http://10.0.0.1:9000', '10.0.0.1:9000'],
  ])('takes %s when %s is configured', (endpoint, host) => {
    expect(read(endpoint, 'b', 'r', [host])).toMatchObject({ url: endpoint, isConfigured: true });
    expect(() => read(endpoint, 'b', 'r', [`other-${host}`])).toThrow(/LONGHAUL_STORAGE_HOSTS/);
  });
});
