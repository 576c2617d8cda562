import { defineNode, imageResult } from './node-class';
import { numberParameter } from './parameters';
import { fromPixels, toPixels } from './pixels';

/** Gaussian blur; `sigma` is its standard deviation in pixels. */
export const imageBlur = defineNode({
  className: 'ImageBlur',
  parameters: { sigma: numberParameter({ min: 0.3, max: 100 }) },
  links: { image: 'IMAGE' },
  produces: ['IMAGE'],
  async run({ parameters, image }) {
    return imageResult(await toPixels(fromPixels(image('image')).blur(parameters.sigma)));
  },
});
