import { defineNode, imageResult } from './node-class';
import { wholeNumberParameter } from './parameters';
import { fromPixels, toPixels } from './pixels';

/** Cuts a rectangle out; what lies outside the image is clipped, and nothing left is an error. */
export const imageCrop = defineNode({
  className: 'ImageCrop',
  parameters: {
    x: wholeNumberParameter(0, 8191),
    y: wholeNumberParameter(0, 8191),
    width: wholeNumberParameter(1, 8192),
    height: wholeNumberParameter(1, 8192),
  },
  links: { image: 'IMAGE' },
  produces: ['IMAGE'],
  async run({ parameters: { x, y, ...size }, image }) {
    const pixels = image('image');
    const width = Math.min(size.width, pixels.width - x);
    const height = Math.min(size.height, pixels.height - y);
    if (width <= 0 || height <= 0) {
      throw new Error(`the crop at ${x},${y} lies outside the image of ${pixels.width} x ${pixels.height}`);
    }
    return imageResult(await toPixels(fromPixels(pixels).extract({ left: x, top: y, width, height })));
  },
});
