import { defineNode, imageResult } from './node-class';
import { choiceParameter, wholeNumberParameter } from './parameters';
import { fromPixels, toPixels, type Pixels } from './pixels';

const KERNELS = { 'nearest-exact': 'nearest', bilinear: 'linear', bicubic: 'cubic', lanczos: 'lanczos3' } as const;

/** Scales to `width` x `height`; a 0 keeps the proportions; `crop: center` cuts what stands over, else it stretches. */
export const imageScale = defineNode({
  className: 'ImageScale',
  parameters: {
    width: wholeNumberParameter(0, 8192),
    height: wholeNumberParameter(0, 8192),
    upscale_method: choiceParameter('nearest-exact', 'bilinear', 'bicubic', 'lanczos'),
    crop: choiceParameter('disabled', 'center'),
  },
  links: { image: 'IMAGE' },
  produces: ['IMAGE'],
  async run({ parameters, image }) {
    const { upscale_method, crop } = parameters;
    const pixels = image('image');
    const { width, height } = targetSize(pixels, parameters);
    const fit = crop === 'center' ? 'cover' : 'fill';
    return imageResult(
      await toPixels(fromPixels(pixels).resize({ width, height, fit, kernel: KERNELS[upscale_method] })),
    );
  },
});

/** Fills in a side of 0 from the other one, or both from the image. */
function targetSize(pixels: Pixels, wanted: { width: number; height: number }): { width: number; height: number } {
  const { width, height } = wanted;
  if (width === 0 && height === 0) return { width: pixels.width, height: pixels.height };
  return {
    width: width || Math.max(1, Math.round((pixels.width * height) / pixels.height)),
    height: height || Math.max(1, Math.round((pixels.height * width) / pixels.width)),
  };
}
