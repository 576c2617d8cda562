import { setTimeout as delay } from 'node:timers/promises';
import { defineNode, imageResult } from './node-class';
import { numberParameter } from './parameters';

/** Passes an image on after `seconds`; an interrupt ends the wait at once. */
export const wait = defineNode({
  className: 'Wait',
  parameters: { seconds: numberParameter({ min: 0, max: 86_400 }) },
  links: { image: 'IMAGE' },
  produces: ['IMAGE'],
  isIdle: true,
  async run({ parameters, image, context }) {
    await delay(parameters.seconds * 1000, undefined, { signal: context.signal });
    return imageResult(image('image'));
  },
});
