import { contactSheet } from './contact-sheet';
import { emptyImage } from './empty-image';
import { imageBlend } from './image-blend';
import { imageBlur } from './image-blur';
import { imageCrop } from './image-crop';
import { imageGrayscale } from './image-grayscale';
import { imageInvert } from './image-invert';
import { imageMirror } from './image-mirror';
import { imageScale } from './image-scale';
import { layerColorLevels } from './layer-color-levels';
import { loadImage } from './load-image';
import type { NodeClass } from './node-class';
import { loadFile, saveFile } from './pass-file';
import { raiseError } from './raise-error';
import { previewImage, saveImage } from './save-image';
import { textWatermark } from './text-watermark';
import { wait } from './wait';

const NODE_CLASSES: readonly NodeClass[] = [
  contactSheet,
  emptyImage,
  imageBlend,
  imageBlur,
  imageCrop,
  imageGrayscale,
  imageInvert,
  imageMirror,
  imageScale,
  layerColorLevels,
  loadFile,
  loadImage,
  previewImage,
  raiseError,
  saveFile,
  saveImage,
  textWatermark,
  wait,
];

const byName = new Map(NODE_CLASSES.map((nodeClass) => [nodeClass.className, nodeClass]));

/** The node class of that name, or undefined. */
export function findNodeClass(className: string): NodeClass | undefined {
  return byName.get(className);
}
