import { defineNode, imageResult } from './node-class';
import { fromPixels, toPixels } from './pixels';

/** The negative of an image; alpha stays as it is. */
export const imageInvert = defineNode({
  className: 'ImageInvert',
  parameters: {},
  links: { image: 'IMAGE' },
  produces: ['IMAGE'],
  async run({ image }) {
    return imageResult(await toPixels(fromPixels(image('image')).negate({ alpha: false })));
  },
});
