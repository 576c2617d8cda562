import sharp from 'sharp';
import { defineNode, imageResult } from './node-class';
import { colorParameter, wholeNumberParameter } from './parameters';
import { toPixels } from './pixels';

/** An image of one color, for apps that need no input. */
export const emptyImage = defineNode({
  className: 'EmptyImage',
  parameters: {
    width: wholeNumberParameter(1, 8192),
    height: wholeNumberParameter(1, 8192),
    color: colorParameter(),
  },
  links: {},
  produces: ['IMAGE'],
  async run({ parameters: { width, height, color } }) {
    return imageResult(await toPixels(sharp({ create: { width, height, channels: 3, background: color } })));
  },
});
