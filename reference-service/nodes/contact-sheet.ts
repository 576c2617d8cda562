import sharp from 'sharp';
import { defineNode, imageResult } from './node-class';
import { colorParameter, wholeNumberParameter } from './parameters';
import { fromPixels, toPixels } from './pixels';

/** Puts up to six images on one sheet, row by row, each fitted into a tile of the same size. */
export const contactSheet = defineNode({
  className: 'ContactSheet',
  parameters: {
    columns: wholeNumberParameter(1, 6),
    tile_width: wholeNumberParameter(16, 2048),
    tile_height: wholeNumberParameter(16, 2048),
    gap: wholeNumberParameter(0, 200),
    background: colorParameter(),
  },
  links: {
    image_1: 'IMAGE',
    image_2: 'IMAGE?',
    image_3: 'IMAGE?',
    image_4: 'IMAGE?',
    image_5: 'IMAGE?',
    image_6: 'IMAGE?',
  },
  produces: ['IMAGE'],
  async run({ parameters, images }) {
    const { columns, tile_width: width, tile_height: height, gap, background } = parameters;
    const all = images();
    const rows = Math.ceil(all.length / columns);
    const tiles = await Promise.all(
      all.map(async (pixels, index) => ({
        input: await fromPixels(pixels)
          .resize({ width, height, fit: 'contain', background })
          .removeAlpha()
          .raw()
          .toBuffer(),
        raw: { width, height, channels: 3 as const },
        left: gap + (index % columns) * (width + gap),
        top: gap + Math.floor(index / columns) * (height + gap),
      })),
    );
    const sheet = sharp({
      create: { width: gap + columns * (width + gap), height: gap + rows * (height + gap), channels: 3, background },
    });
    return imageResult(await toPixels(sheet.composite(tiles).removeAlpha()));
  },
});
