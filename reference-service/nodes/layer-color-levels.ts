import { defineNode, imageResult } from './node-class';
import { wholeNumberParameter } from './parameters';
import { fromPixels, toPixels } from './pixels';

/** Stretches the tones between `black_point` and `white_point` over the whole range. */
export const layerColorLevels = defineNode({
  className: 'LayerColor: Levels',
  parameters: { black_point: wholeNumberParameter(0, 254), white_point: wholeNumberParameter(1, 255) },
  links: { image: 'IMAGE' },
  produces: ['IMAGE'],
  async run({ parameters: { black_point, white_point }, image }) {
    if (white_point <= black_point) throw new Error('white_point must be above black_point');
    const slope = 255 / (white_point - black_point);
    return imageResult(await toPixels(fromPixels(image('image')).linear(slope, -slope * black_point)));
  },
});
