import { defineNode, imageResult } from './node-class';
import { choiceParameter, numberParameter } from './parameters';
import { fromPixels, toPixels } from './pixels';

const BLENDS = {
  normal: 'over',
  multiply: 'multiply',
  screen: 'screen',
  overlay: 'overlay',
  difference: 'difference',
} as const;

/** Lays `image2`, brought to the size of `image1`, over it. */
export const imageBlend = defineNode({
  className: 'ImageBlend',
  parameters: {
    blend_factor: numberParameter({ min: 0, max: 1 }),
    blend_mode: choiceParameter('normal', 'multiply', 'screen', 'overlay', 'difference'),
  },
  links: { image1: 'IMAGE', image2: 'IMAGE' },
  produces: ['IMAGE'],
  async run({ parameters: { blend_factor, blend_mode }, image }) {
    const base = image('image1');
    const { width, height } = base;
    const upper = await fromPixels(image('image2'))
      .resize({ width, height, fit: 'cover', kernel: 'lanczos3' })
      .removeAlpha()
      .ensureAlpha(blend_factor)
      .raw()
      .toBuffer();
    const layer = { input: upper, raw: { width, height, channels: 4 as const }, blend: BLENDS[blend_mode] };
    return imageResult(await toPixels(fromPixels(base).composite([layer]).removeAlpha()));
  },
});
