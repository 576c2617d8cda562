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

  it('double exposure lays two uploads over each other', async () => {
    const [output] = await run(7, {
      '1:LoadImage.image': (await upload(3)).id,
      '2:LoadImage.image': (await upload(5)).id,
      '3:ImageScale.width': 90,
      '3:ImageScale.height': 60,
      '4:ImageBlend.blend_factor': 1,
      '4:ImageBlend.blend_mode': 'multiply',
    });
    const [a, b] = [await pixelsOf(await picture(3)), await pixelsOf(await picture(5))];
    const off = (await pixelsOf(output?.file)).map((value, index) =>
      Math.abs(value - ((a[index] ?? 0) * (b[index] ?? 0)) / 255),
    );
    expect(Math.max(...off)).toBeLessThanOrEqual(1.5);
  });

  it('contrast lab takes input keys with a colon and a space in the class name', async () => {
    const [output] = await run(9, {
      '1:LoadImage.image': (await upload(7)).url,
      '2:LayerColor: Levels.black_point': '51',
      '2:LayerColor: Levels.white_point': 204,
    });
    const slope = 255 / (204 - 51);
    const expected = (await step(sharp(await picture(7)).linear(slope, -slope * 51))).flop();
    expect((await pixelsOf(output?.file)).equals(await pixelsOf(expected))).toBe(true);
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

  it('fails when its input is no picture', async () => {
    const text = await client.upload('not-really.png', Buffer.from('hello'));
    const [output] = await run(1, { '1:LoadImage.image': text.url }, 'Failed');
    expect(output?.['error_type']).toBe('EXECUTION_ERROR');
  });

  it('takes an upright picture from a photo that was taken sideways', async () => {
    const sideways = sharp(await picture(7)).jpeg();
    const photo = await client.upload('photo.jpg', await sideways.withMetadata({ orientation: 6 }).toBuffer());
    const [output] = await run(9, { '1:LoadImage.image': photo.url });
    expect(await sharp(output?.file).metadata()).toMatchObject({ width: 60, height: 90 });
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
