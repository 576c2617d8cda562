import { defineNode, type NodeOutput } from './node-class';
import { choiceParameter, textParameter } from './parameters';
import { fromPixels, type Pixels } from './pixels';

const CONTENT_TYPES = { png: 'image/png', jpeg: 'image/jpeg', webp: 'image/webp' } as const;
const EXTENSIONS = { png: '.png', jpeg: '.jpg', webp: '.webp' } as const;
type Format = keyof typeof CONTENT_TYPES;

/** Keeps an image as a result file. PNG and lossless WebP hold exactly the pixels the node received. */
export const saveImage = defineNode({
  className: 'SaveImage',
  parameters: { filename_prefix: textParameter(60), format: choiceParameter('png', 'jpeg', 'webp') },
  links: { images: 'IMAGE' },
  produces: [],
  async run({ parameters, image, context }) {
    const { format, filename_prefix } = parameters;
    await context.saveOutput(await encode(image('images'), format, filename_prefix, false));
    return [];
  },
});

/** Keeps an image as a preview, which `suppress_preview_output` leaves out. */
export const previewImage = defineNode({
  className: 'PreviewImage',
  parameters: {},
  links: { images: 'IMAGE' },
  produces: [],
  async run({ image, context }) {
    await context.saveOutput(await encode(image('images'), 'webp', 'preview', true));
    return [];
  },
});

async function encode(pixels: Pixels, format: Format, prefix: string, isPreview: boolean): Promise<NodeOutput> {
  const options = { png: { compressionLevel: 6 }, jpeg: { quality: 90 }, webp: { lossless: true } }[format];
  const bytes = await fromPixels(pixels).toFormat(format, options).toBuffer();
  return { content: { bytes, contentType: CONTENT_TYPES[format] }, ext: EXTENSIONS[format], prefix, isPreview };
}
