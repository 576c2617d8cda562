import { defineNode, imageResult } from './node-class';
import { choiceParameter, colorParameter, numberParameter, textParameter, wholeNumberParameter } from './parameters';
import { fromPixels, toPixels } from './pixels';

const PLACES = {
  'top left': 'northwest',
  'top right': 'northeast',
  center: 'center',
  'bottom left': 'southwest',
  'bottom right': 'southeast',
} as const;

/** Width of a character relative to the font size, generous, so that the text never leaves its own picture. */
const CHARACTER_WIDTH = 0.72;
const LINE_HEIGHT = 1.4;

/** Writes `text` over an image; what does not fit beside it is cut at the image's edge. */
export const textWatermark = defineNode({
  className: 'Text Watermark',
  parameters: {
    text: textParameter(120),
    size: wholeNumberParameter(6, 400),
    color: colorParameter(),
    opacity: numberParameter({ min: 0, max: 1 }),
    place: choiceParameter('top left', 'top right', 'center', 'bottom left', 'bottom right'),
  },
  links: { image: 'IMAGE' },
  produces: ['IMAGE'],
  async run({ parameters, image }) {
    const { text, size, color, opacity, place } = parameters;
    const pixels = image('image');
    const width = Math.min(pixels.width, Math.ceil((text.length + 1) * size * CHARACTER_WIDTH));
    const height = Math.min(pixels.height, Math.ceil(size * LINE_HEIGHT));
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">
      <text x="50%" y="${size}" text-anchor="middle" font-family="sans-serif" font-weight="bold" font-size="${size}"
        fill="${color}" fill-opacity="${opacity}">${escapeXml(text)}</text></svg>`;
    const written = fromPixels(pixels).composite([{ input: Buffer.from(svg), gravity: PLACES[place] }]);
    return imageResult(await toPixels(pixels.channels === 3 ? written.removeAlpha() : written));
  },
});

/** Characters that XML 1.0 cannot hold, not even as a number. */
const NOT_IN_XML = /[^\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

function escapeXml(text: string): string {
  return text.replace(NOT_IN_XML, '').replace(/[<>&"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
