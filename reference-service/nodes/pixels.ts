import sharp, { type Sharp } from 'sharp';

/** An image between two nodes: raw 8-bit sRGB samples, row by row, with or without alpha. */
export interface Pixels {
  readonly data: Buffer;
  readonly width: number;
  readonly height: number;
  readonly channels: 3 | 4;
}

/** Largest image that is decoded, in pixels; a bomb is refused before it takes memory. */
const MAX_INPUT_PIXELS = 64 * 1024 * 1024;

/** Decodes an image file, upright by its EXIF orientation. Throws when the bytes are not an image. */
export async function decodeImage(bytes: Buffer): Promise<Pixels> {
  return toPixels(sharp(bytes, { limitInputPixels: MAX_INPUT_PIXELS }).autoOrient());
}

/** A sharp pipeline that starts from `pixels`. */
export function fromPixels(pixels: Pixels): Sharp {
  const { width, height, channels } = pixels;
  return sharp(pixels.data, { raw: { width, height, channels } });
}

/** Ends a sharp pipeline in raw samples. */
export async function toPixels(pipeline: Sharp): Promise<Pixels> {
  const { data, info } = await pipeline
    .toColourspace('srgb')
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true });
  if (info.channels !== 3 && info.channels !== 4) throw new Error(`an image of ${info.channels} channels`);
  return { data, width: info.width, height: info.height, channels: info.channels };
}
