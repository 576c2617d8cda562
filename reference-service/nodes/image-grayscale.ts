import type { Matrix3x3 } from 'sharp';
import { defineNode, imageResult } from './node-class';
import { fromPixels, toPixels } from './pixels';

/** Weights of red, green and blue in the luminance of Rec. 709. */
const LUMINANCE = [0.2126, 0.7152, 0.0722] as const;
// A matrix and not sharp's grayscale(), which would leave one channel.
const TO_GRAY: Matrix3x3 = [[...LUMINANCE], [...LUMINANCE], [...LUMINANCE]];

/** The luminance of an image. */
export const imageGrayscale = defineNode({
  className: 'ImageGrayscale',
  parameters: {},
  links: { image: 'IMAGE' },
  produces: ['IMAGE'],
  async run({ image }) {
    return imageResult(await toPixels(fromPixels(image('image')).recomb(TO_GRAY)));
  },
});
