import { defineNode } from './node-class';
import { textParameter } from './parameters';

/** Fails with `message`, always. */
export const raiseError = defineNode({
  className: 'RaiseError',
  parameters: { message: textParameter() },
  links: { image: 'IMAGE' },
  produces: ['IMAGE'],
  run({ parameters }) {
    return Promise.reject(new Error(parameters.message));
  },
});
