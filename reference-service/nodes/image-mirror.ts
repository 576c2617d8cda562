import { defineNode, imageResult } from './node-class';
import { choiceParameter } from './parameters';
import { fromPixels, toPixels } from './pixels';

/** Mirrors an image left to right or upside down. */
export const imageMirror = defineNode({
  className: 'ImageMirror',
  parameters: { direction: choiceParameter('horizontal', 'vertical') },
  links: { image: 'IMAGE' },
  produces: ['IMAGE'],
  async run({ parameters, image }) {
    const pipeline = fromPixels(image('image'));
    return imageResult(await toPixels(parameters.direction === 'horizontal' ? pipeline.flop() : pipeline.flip()));
  },
});
