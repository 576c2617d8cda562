import { defineNode, imageResult } from './node-class';
import { resourceParameter } from './parameters';
import { decodeImage } from './pixels';

/** Loads a committed image; `image` is the resource's url, name or id. */
export const loadImage = defineNode({
  className: 'LoadImage',
  parameters: { image: resourceParameter },
  links: {},
  produces: ['IMAGE'],
  async run({ parameters, context }) {
    return imageResult(await decodeImage(await context.readInput(parameters.image)));
  },
});
