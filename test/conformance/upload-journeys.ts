import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { dataOf, describe, fieldsOf, itemsOf, textOf, type Fields } from './answers';
import { once, oncePerKey } from './once';
import type { Answer, PlainHttp } from './plain-http';
import { sampleFile, type FileKind, type SampleFile } from './sample-files';
import { putObject, type PutOutcome, type PutTarget } from './storage-put';
import { NotCheckable } from './verdict';

/** Lifetimes end on whole seconds. */
export const LATE_MS = 1_500;

/** One file on its way into the service: token, upload, commit. */
export interface UploadedFile {
  readonly file: SampleFile;
  readonly put: PutOutcome;
  readonly commit: Answer;
  /** `data` of the commit. */
  readonly resource: Fields;
  readonly objectKey: string;
}

/** Uploads by sections 4.6 and 4.7, done once for all clauses that look at them. */
export class UploadJourneys {
  readonly #http: PlainHttp;
  readonly #learnSecret: (secret: string) => void;

  constructor(http: PlainHttp, learnSecret: (secret: string) => void) {
    this.#http = http;
    this.#learnSecret = learnSecret;
  }

  /** The answer to one request for upload credentials. */
  readonly token = once(() => this.askToken(sampleFile('image').name));

  readonly uploaded = oncePerKey((kind: FileKind) => this.upload(sampleFile(kind)));

  /** The files of all kinds, one after the other. */
  async all(): Promise<readonly UploadedFile[]> {
    return [await this.uploaded('image'), await this.uploaded('audio'), await this.uploaded('video')];
  }

  async askToken(fileName: string): Promise<Answer> {
    const answer = await this.#http.ask('token', { query: { file_name: fileName, file_type: 'inputs' } });
    const { access_key_id, access_key_secret, security_token } = fieldsOf(dataOf(answer)['file']);
    for (const secret of [access_key_id, access_key_secret, security_token]) this.#learnSecret(textOf(secret));
    return answer;
  }

  /** Uploads and commits a file, whatever comes of it. */
  async upload(file: SampleFile): Promise<UploadedFile> {
    const token = await this.askToken(file.name);
    const target = putTargetOf(token);
    const put = await putObject(target, file.bytes);
    const commit = await this.commit(file.name, target.objectKey);
    return { file, put, commit, resource: dataOf(commit), objectKey: target.objectKey };
  }

  commit(name: string, objectKey: string): Promise<Answer> {
    return this.#http.ask('commit', { body: { name, object_key: objectKey } });
  }

  /** A fresh url of a committed file: the former one may have expired. */
  async freshUrl(objectKey: string): Promise<string> {
    const answer = await this.#http.ask('list', { query: { object_key: objectKey } });
    const url = textOf(itemsOf(dataOf(answer)['list'])[0]?.['url']);
    if (url === '') throw new NotCheckable(`the list has no url of the file: ${describe(answer)}`);
    return url;
  }

  /** A fresh url of a local file, uploaded for an app. */
  async urlOf(path: string): Promise<string> {
    return this.freshUrl((await this.#inputFile(path)).objectKey);
  }

  /** What is behind a committed file's url after the lifetime of links. */
  readonly downloadTooLate = oncePerKey(async (linkLifetimeMs: number) => {
    const url = await this.freshUrl((await this.uploaded('image')).objectKey);
    await delay(linkLifetimeMs + LATE_MS);
    return this.#http.download(url);
  });

  /** What the storage makes of an upload after the lifetime of its credentials. */
  readonly putTooLate = oncePerKey(async (credentialLifetimeMs: number) => {
    const { name, bytes } = sampleFile('image');
    const put = putTargetOf(await this.askToken(name));
    await delay(credentialLifetimeMs + LATE_MS);
    return putObject(put, bytes);
  });

  readonly #inputFile = oncePerKey(async (path: string) =>
    this.upload({ name: basename(path), ext: extname(path), bytes: await readFile(path) }),
  );
}

/** Where a token says to upload, and with what. */
export function putTargetOf(token: Answer): PutTarget {
  const { file, storage } = dataOf(token);
  const { object_key, access_key_id, access_key_secret, security_token } = fieldsOf(file);
  const { endpoint, bucket, region } = fieldsOf(storage);
  if (textOf(endpoint) === '' || textOf(object_key) === '') {
    // What came instead may hold credentials all the same: nothing of it is quoted.
    throw new NotCheckable(`no upload token came: HTTP ${token.status}`);
  }
  return {
    endpoint: textOf(endpoint),
    bucket: textOf(bucket),
    region: textOf(region),
    objectKey: textOf(object_key),
    accessKeyId: textOf(access_key_id),
    accessKeySecret: textOf(access_key_secret),
    securityToken: textOf(security_token),
  };
}
