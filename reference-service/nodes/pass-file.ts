import { extname } from 'node:path';
import { defineNode } from './node-class';
import { resourceParameter, textParameter } from './parameters';

/** Takes a committed file of any kind, unopened: audio and video as well as images. */
export const loadFile = defineNode({
  className: 'LoadFile',
  parameters: { file: resourceParameter },
  links: {},
  produces: ['FILE'],
  run: ({ parameters }) => Promise.resolve([{ type: 'FILE', objectKey: parameters.file }]),
});

/** Keeps a file as a result, byte for byte. */
export const saveFile = defineNode({
  className: 'SaveFile',
  parameters: { filename_prefix: textParameter(60) },
  links: { file: 'FILE' },
  produces: [],
  async run({ parameters, file, context }) {
    const objectKey = file('file');
    await context.saveOutput({
      content: { copyOf: objectKey },
      ext: extname(objectKey),
      prefix: parameters.filename_prefix,
      isPreview: false,
    });
    return [];
  },
});
