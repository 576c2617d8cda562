import sharp, { type Sharp } from 'sharp';
import type { ReferenceService } from '../../../reference-service/start-reference-service';
import { startService } from '../../support/start-reference-service';
import { PlainClient, type Outputs } from './plain-client';

let service: ReferenceService;
let client: PlainClient;

beforeAll(async () => {
  service = await startService({ timings: { queueDelayMs: 0, preparingMs: 0, minimumRunningMs: 0 } });
  client = new PlainClient(service);
});
afterAll(() => service.stop());

/** A picture of its own for each seed, in which no transformation goes unnoticed. */
async function picture(seed: number): Promise<Buffer> {
  const data = Buffer.from(Array.from({ length: 90 * 60 * 3 }, (_, index) => (index * seed) % 256));
  return sharp(data, { raw: { width: 90, height: 60, channels: 3 } })
    .png()
    .toBuffer();
}

const upload = async (seed: number) => client.upload(`${seed}.png`, await picture(seed));

/** The files that an app makes, with what the service tells of each. */
async function run(
  webAppId: number,
  inputValues: Record<string, unknown>,
  end = 'Success',
): Promise<(Outputs['outputs'][number] & { readonly file: Buffer })[]> {
  const requestId = await client.createTask(webAppId, inputValues);
  await client.waitFor(requestId, end);
  const { outputs } = await client.outputs(requestId);
  return Promise.all(
    outputs.map(async (output) => {
      if (output.object_url === '') return { ...output, file: Buffer.alloc(0) };
      return { ...output, file: Buffer.from(await (await fetch(output.object_url)).arrayBuffer()) };
    }),
  );
}

const pixelsOf = (image: Sharp | Buffer | undefined): Promise<Buffer> =>
  (Buffer.isBuffer(image) || image === undefined ? sharp(image) : image).raw().toBuffer();
const step = async (image: Sharp): Promise<Sharp> => sharp(await image.png().toBuffer());

describe('the app', () => {
  it('photo finish gives exactly the pixels of the same transformation made without it', async () => {
    const [output] = await run(1, {
      '1:LoadImage.image': (await upload(7)).url,
      '2:ImageScale.width': '64',
      '2:ImageScale.height': 40,
      '3:ImageBlur.sigma': '2.5',
    });
    const scaled = await step(sharp(await picture(7)).resize(64, 40, { fit: 'cover', kernel: 'lanczos3' }));
    const expected = (await step(scaled.blur(2.5))).negate();
    expect((await pixelsOf(output?.file)).equals(await pixelsOf(expected))).toBe(true);
  });

  it('triptych gives pictures of three formats, and a preview unless it is left out', async () => {
    const outputs = await run(4, { '1:LoadImage.image': (await upload(7)).url });
    const formats = await Promise.all(outputs.map(async ({ file }) => (await sharp(file).metadata()).format));
    expect(formats).toEqual(['png', 'jpeg', 'webp', 'webp']);

    const input_values = { '1:LoadImage.image': String((await upload(7)).id) };
    const { body } = await client.create({ web_app_id: 4, suppress_preview_output: true, input_values });
    const { requestId } = body as { requestId: string };
    await client.waitFor(requestId, 'Success');
    expect((await client.outputs(requestId)).outputs).toHaveLength(3);
  });

  it('half done fails with one good output and one error', async () => {
    const outputs = await run(10, { '1:LoadImage.image': (await upload(7)).url }, 'Failed');
    expect(outputs.map((output) => output['error_type'])).toEqual(['NOT_ERROR', 'EXECUTION_ERROR']);
    expect((await sharp(outputs[0]?.file).metadata()).width).toBe(320);
  });

  it('courier hands audio and video back byte for byte', async () => {
    const film = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 31) % 256));
    for (const name of ['film.mp4', 'song.mp3']) {
      const [output] = await run(11, { '1:LoadFile.file': (await client.upload(name, film)).url });
      expect(output?.['output_ext']).toBe(name.slice(-4));
      expect(output?.file.equals(film)).toBe(true);
    }
  });

  it.each<[string, (base: Sharp) => Sharp]>([
    ['grey', (base) => base.grayscale().toColourspace('b-w')],
    ['grey with alpha', (base) => base.ensureAlpha(0.5).grayscale().toColourspace('b-w')],
    ['palette', (base) => base.png({ palette: true })],
    ['16 bits', (base) => base.toColourspace('rgb16').png()],
  ])('works on a picture that is %s', async (kind, make) => {
    const image = make(sharp(await picture(7)));
    const bytes = await (kind === 'palette' ? image : image.png()).toBuffer();
    const photo = await client.upload('photo.png', bytes);
    expect(await run(4, { '1:LoadImage.image': photo.url })).toHaveLength(4);
  });
});
