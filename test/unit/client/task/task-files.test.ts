import { createReadStream, readdirSync, readlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { InputInvalidError } from '../../../../src/client/errors';
import {
  type ContentInput,
  type ContentTaskInput,
  type InputStaging,
  stageContents,
} from '../../../../src/client/task/task-files';
import type { NewTaskInput } from '../../../../src/contract/task-input';
import { openStaging } from '../../../../src/files';
import { eventually } from '../../../support/eventually';
import { startHttpServer } from '../../../support/start-http-server';

/** What a name in `/proc/self/fd` stands for; empty when it was closed meanwhile. */
function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

/** A staging that reads every content. */
const reading: InputStaging = {
  keep: async (content, name) => {
    await buffer(content);
    return `s3://bucket/${name}`;
  },
};

function stage(
  inputs: ContentTaskInput['inputs'],
  staging: InputStaging = reading,
  signal?: AbortSignal,
): Promise<NewTaskInput> {
  return stageContents<NewTaskInput>({ webAppId: 1, inputs }, staging, () => undefined, signal);
}

function image(content: ContentInput['content'], name = 'rocket.jpg'): ContentTaskInput['inputs'] {
  return { '1:LoadImage.image': { content, name } };
}

describe('a content of an input', () => {
  it.each(['rocket.jpg', 'a.b.PNG', 'été 1.mp4', '\u5199\u771f.webp'])('may be called %j', async (name) => {
    const { inputs } = await stage(image(Buffer.from('x'), name));
    expect(inputs).toEqual({ '1:LoadImage.image': { file: `s3://bucket/${name}` } });
  });

  it.each(['upload', 'upload.', '.png', '..png', 'a.p-g', 'a.much-too-long-extension'])(
    'cannot be called %j, which the service would refuse for its extension',
    async (name) => {
      await expect(stage(image(Buffer.from('x'), name))).rejects.toThrow(InputInvalidError);
      await expect(stage(image(Buffer.from('x'), name))).rejects.toThrow(
        /inputs\["1:LoadImage\.image"\]\.name is ".*give a file name with its extension/,
      );
    },
  );

  it.each<[string, () => ContentInput['content']]>([
    ['a Blob', () => new Blob(['pix', 'els'])],
    ['a File of a form', () => new File(['pixels'], 'upload.png')],
    ['a web stream', () => new Blob(['pixels']).stream()],
    ['the body of a request', () => new Response('pixels').body ?? new Blob([])],
  ])('is staged when it is %s', async (_, content) => {
    const kept: string[] = [];
    const staging: InputStaging = {
      keep: async (stream, name) => {
        kept.push(`${name}: ${(await buffer(stream)).toString()}`);
        return 's3://bucket/rocket.jpg';
      },
    };
    expect(await stage(image(content()), staging)).toMatchObject({
      inputs: { '1:LoadImage.image': { file: 's3://bucket/rocket.jpg' } },
    });
    expect(kept).toEqual(['rocket.jpg: pixels']);
    await expect(stage({ '1:LoadImage.image': content() as never })).rejects.toThrow(/is bytes without a name/);
  });

  it('that is an empty Blob is refused, and a web stream is closed when a start is refused', async () => {
    await expect(stage(image(new Blob([])))).rejects.toThrow(/is empty; give a content with at least one byte/);
    const closed: string[] = [];
    const stream = new ReadableStream({ cancel: () => void closed.push('closed') });
    await expect(stage(image(stream, 'no-extension'))).rejects.toThrow(InputInvalidError);
    expect(closed).toEqual(['closed']);
  });

  it('that was read or closed before is refused as that, and not as empty', async () => {
    const read = Readable.from([Buffer.from('x')]);
    await buffer(read);
    const closed = Readable.from([Buffer.from('x')]).destroy();
    const taken = new Blob(['x']).stream();
    taken.getReader();
    for (const content of [read, closed, taken]) {
      await expect(stage(image(content))).rejects.toThrow(/content was read or closed before; give a new stream/);
    }
  });
});

describe('two contents', () => {
  it('that are one stream are refused with both inputs; one piece of bytes may be both', async () => {
    const both = (content: Buffer | Readable): ContentTaskInput['inputs'] => ({
      ...image(content),
      '2:LoadImage.image': { content, name: 'b.jpg' },
    });
    await expect(stage(both(Readable.from([Buffer.from('x')])))).rejects.toMatchObject({
      problems: [
        'inputs["2:LoadImage.image"].content is the stream of inputs["1:LoadImage.image"], which is read once; give each a stream of its own, or the bytes.',
      ],
    });
    await expect(stage(both(Buffer.from('x')))).resolves.toMatchObject({ webAppId: 1 });
  });
});

describe('contents in a staging', () => {
  const env = {
    ...{ LONGHAUL_STAGING: 's3://bucket', LONGHAUL_S3_PATH_STYLE: 'true', AWS_REGION: 'r' },
    ...{ AWS_ACCESS_KEY_ID: 'AKIAOFTHISTEST', AWS_SECRET_ACCESS_KEY: 'secret-of-this-test' },
  };

  it('whose stream brings something else than bytes and text are refused, and the process goes on', async () => {
    const staging = openStaging({ env: { ...env, AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:1' } });
    for (const chunks of [[{ a: 1 }], [Buffer.from('x'), 7]]) {
      await expect(stage(image(Readable.from(chunks)), staging)).rejects.toThrow(
        /inputs\["1:LoadImage\.image"\]\.content cannot be read \(the stream brought a value that is no bytes \((object|number)\); give bytes or text\)/,
      );
    }
    staging.close();
  });

  it('whose stream fails are refused with the input and the reason, also while another is staged', async () => {
    // The first content is on its way while the second fails.
    const server = await startHttpServer((_request, response) =>
      setTimeout(() => response.writeHead(200, { etag: '"of-this-test"' }).end(), 50),
    );
    const staging = openStaging({ env: { ...env, AWS_ENDPOINT_URL_S3: server.url } });
    const missing = (): Readable => createReadStream('/no/such/photo.jpg');
    const both = (): ContentTaskInput['inputs'] => ({
      ...image(Buffer.from('x')),
      '2:LoadImage.image': { content: missing(), name: 'b.jpg' },
    });
    for (const inputs of [() => image(missing()), both]) {
      const start = stage(inputs(), staging);
      await expect(start).rejects.toMatchObject({ name: 'InputInvalidError', cause: { code: 'ENOENT' } });
      await expect(start).rejects.toThrow(
        /inputs\["[12]:LoadImage\.image"\]\.content cannot be read \(ENOENT: .*photo/,
      );
    }
    staging.close();
    await server.close();
  });

  it('end with the reason of the signal when a stream stalls, in every staging, and leave no file open', async () => {
    const staging = openStaging({ env: { ...env, AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:1' } });
    for (const place of [staging, reading]) {
      const caller = new AbortController();
      const stalled = new PassThrough();
      stalled.write('the first bytes');
      const start = stage(image(stalled), place, caller.signal);
      const reason = new Error('enough');
      await eventually(() => stalled.readableLength === 0, { what: 'the first bytes are read' });
      caller.abort(reason);
      await expect(start).rejects.toBe(reason);
      expect(stalled.destroyed).toBe(true);
    }
    const open = readdirSync('/proc/self/fd').map((name) => readLink(`/proc/self/fd/${name}`));
    expect(open.filter((path) => path.includes('longhaul-spool-'))).toEqual([]);
    staging.close();
  });

  it('end with the reason of the signal while they are sent, or before', async () => {
    const caller = new AbortController();
    const reason = new Error('enough');
    // It answers nothing.
    const server = await startHttpServer(() => {
      caller.abort(reason);
    });
    const staging = openStaging({ env: { ...env, AWS_ENDPOINT_URL_S3: server.url } });
    await expect(stage(image(Buffer.from('x')), staging, caller.signal)).rejects.toBe(reason);
    await expect(stage(image(Buffer.from('x')), staging, caller.signal)).rejects.toBe(reason);
    staging.close();
    await server.close();
  });

  it('wait in no folder that a killed process would leave', async () => {
    const folders = (): readonly string[] => readdirSync(tmpdir()).filter((name) => name.startsWith('longhaul-spool-'));
    const before = folders();
    const during: (readonly string[])[] = [];
    const server = await startHttpServer((_request, response) => {
      during.push(folders());
      response.writeHead(404).end();
    });
    const staging = openStaging({ env: { ...env, AWS_ENDPOINT_URL_S3: server.url } });
    await expect(stage(image(Buffer.from('x')), staging)).rejects.toThrow();
    staging.close();
    await server.close();
    expect(during.length).toBeGreaterThan(0);
    for (const there of during) expect(there.filter((name) => !before.includes(name))).toEqual([]);
  });
});
