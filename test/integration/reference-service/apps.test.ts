import { createHash } from 'node:crypto';
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

/** A picture of its own for each seed. */
async function picture(seed: number, width = 90, height = 60): Promise<Buffer> {
  const data = Buffer.from(Array.from({ length: width * height * 3 }, (_, index) => (index * seed) % 256));
  return sharp(data, { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer();
}

async function run(
  webAppId: number,
  inputValues: Record<string, unknown>,
  end = 'Success',
): Promise<Outputs['outputs']> {
  const requestId = await client.createTask(webAppId, inputValues);
  await client.waitFor(requestId, end);
  return (await client.outputs(requestId)).outputs;
}

async function download(output: Outputs['outputs'][number] | undefined): Promise<Buffer> {
  return Buffer.from(await (await fetch(output?.object_url ?? '')).arrayBuffer());
}

const pixelsOf = (image: Sharp): Promise<Buffer> => image.raw().toBuffer();
const step = async (image: Sharp): Promise<Sharp> => sharp(await image.png().toBuffer());

describe('the apps', () => {
  it('postcard writes its text into one corner and leaves the rest alone', async () => {
    const photo = await client.upload('photo.png', await picture(7));
    const [output] = await run(6, {
      '1:LoadImage.image': photo.url,
      '2:ImageScale.width': 300,
      '2:ImageScale.height': 200,
      '3:Text Watermark.text': '<Hi> & "bye"',
      '3:Text Watermark.size': 20,
    });
    const plain = await step(sharp(await picture(7)).resize(300, 200, { fit: 'cover', kernel: 'lanczos3' }));
    const result = sharp(await download(output));
    const [topOfResult, topOfPlain] = [result, plain].map((image) =>
      pixelsOf(image.clone().extract({ left: 0, top: 0, width: 300, height: 150 })),
    );

    expect((await topOfResult)?.equals((await topOfPlain) ?? Buffer.alloc(0))).toBe(true);
    expect((await pixelsOf(result)).equals(await pixelsOf(plain))).toBe(false);
  });

  it('double exposure lays two uploads over each other', async () => {
    const [lower, upper] = [
      await client.upload('l.png', await picture(3)),
      await client.upload('u.png', await picture(5)),
    ];
    const [output] = await run(7, {
      '1:LoadImage.image': lower.id,
      '2:LoadImage.image': upper.id,
      '3:ImageScale.width': 90,
      '3:ImageScale.height': 60,
      '4:ImageBlend.blend_factor': 1,
      '4:ImageBlend.blend_mode': 'multiply',
    });
    const [a, b] = [await pixelsOf(sharp(await picture(3))), await pixelsOf(sharp(await picture(5)))];
    const result = await pixelsOf(sharp(await download(output)));
    const furthest = Math.max(
      ...result.map((value, index) => Math.abs(value - ((a[index] ?? 0) * (b[index] ?? 0)) / 255)),
    );

    expect(furthest).toBeLessThanOrEqual(1.5);
  });

  it('contact sheet puts four photos on one sheet', async () => {
    const uploads = await Promise.all(
      [3, 5, 7, 11].map(async (seed) => client.upload(`${seed}.png`, await picture(seed))),
    );
    const inputs: Record<string, unknown> = {};
    for (const [index, upload] of uploads.entries()) inputs[`${index + 1}:LoadImage.image`] = upload.url;
    const [output] = await run(8, {
      ...inputs,
      '5:ContactSheet.tile_width': 90,
      '5:ContactSheet.tile_height': 60,
      '5:ContactSheet.gap': 4,
      '6:SaveImage.format': 'png',
    });
    const sheet = sharp(await download(output));
    const fourth = await pixelsOf(sheet.clone().extract({ left: 98, top: 68, width: 90, height: 60 }));

    expect(await sheet.metadata()).toMatchObject({ width: 192, height: 132 });
    expect(fourth.equals(await pixelsOf(sharp(await picture(11))))).toBe(true);
  });

  it('contrast lab takes input keys with a colon and a space in the class name', async () => {
    const photo = await client.upload('photo.png', await picture(7));
    const [output] = await run(9, {
      '1:LoadImage.image': photo.url,
      '2:LayerColor: Levels.black_point': '51',
      '2:LayerColor: Levels.white_point': 204,
    });
    const slope = 255 / (204 - 51);
    const expected = (await step(sharp(await picture(7)).linear(slope, -slope * 51))).flop();

    expect((await pixelsOf(sharp(await download(output)))).equals(await pixelsOf(expected))).toBe(true);
  });

  it('half done fails with one good output and one error', async () => {
    const photo = await client.upload('photo.png', await picture(7));
    const outputs = await run(10, { '1:LoadImage.image': photo.url }, 'Failed');

    expect(outputs.map((output) => output['error_type'])).toEqual(['NOT_ERROR', 'EXECUTION_ERROR']);
    expect((await sharp(await download(outputs[0])).metadata()).width).toBe(320);
  });

  it('courier hands audio and video back byte for byte', async () => {
    const film = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 31) % 256));
    for (const name of ['film.mp4', 'song.mp3']) {
      const upload = await client.upload(name, film);
      const [output] = await run(11, { '1:LoadFile.file': upload.url });

      expect(output?.['output_ext']).toBe(name.slice(-4));
      expect(
        createHash('sha256')
          .update(await download(output))
          .digest('hex'),
      ).toBe(createHash('sha256').update(film).digest('hex'));
    }
  });

  it('take an upright picture from a photo that was taken sideways', async () => {
    const sideways = await sharp(await picture(7))
      .jpeg()
      .withMetadata({ orientation: 6 })
      .toBuffer();
    const photo = await client.upload('photo.jpg', sideways);
    const [output] = await run(9, { '1:LoadImage.image': photo.url });

    expect(await sharp(await download(output)).metadata()).toMatchObject({ width: 60, height: 90 });
  });

  it.each(['grey', 'grey with alpha', 'palette', '16 bits'])('work on a picture that is %s', async (kind) => {
    const base = sharp(await picture(7));
    const made: Record<string, Sharp> = {
      grey: base.clone().grayscale().toColourspace('b-w').png(),
      'grey with alpha': base.clone().ensureAlpha(0.5).grayscale().toColourspace('b-w').png(),
      palette: base.clone().png({ palette: true }),
      '16 bits': base.clone().toColourspace('rgb16').png(),
    };
    const photo = await client.upload('photo.png', (await made[kind]?.toBuffer()) ?? Buffer.alloc(0));

    expect(await run(4, { '1:LoadImage.image': photo.url })).toHaveLength(4);
  });
});
