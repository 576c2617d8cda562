import { z } from 'zod';
import type { ParameterSchema, ParameterValue } from './parameters';
import type { Pixels } from './pixels';

/** What flows along a link between two nodes. */
export type LinkType = 'IMAGE' | 'FILE';

/** A value on a link: an image, or a stored file that is passed on unopened. */
export type LinkValue =
  { readonly type: 'IMAGE'; readonly pixels: Pixels } | { readonly type: 'FILE'; readonly objectKey: string };

/** A result file as a node hands it to the service: bytes, or a stored object to copy. */
export interface NodeOutput {
  readonly content: { readonly bytes: Buffer; readonly contentType: string } | { readonly copyOf: string };
  /** Extension with its leading dot. */
  readonly ext: string;
  /** Leading part of the file name. */
  readonly prefix: string;
  /** A preview is left out when the task was created with `suppress_preview_output`. */
  readonly isPreview: boolean;
}

/** What the running service offers a node. */
export interface NodeContext {
  /** Aborted when the task is interrupted or the service stops. */
  readonly signal: AbortSignal;
  /** Bytes of a committed input. */
  readInput(objectKey: string): Promise<Buffer>;
  /** Keeps a result file; outputs are numbered in the order of the calls. */
  saveOutput(output: NodeOutput): Promise<void>;
}

/** A node class as the graph sees it: names, types, and a way to run it. */
export interface NodeClass {
  readonly className: string;
  readonly parameters: Readonly<Record<string, ParameterSchema>>;
  readonly links: Readonly<Record<string, { readonly type: LinkType; readonly optional: boolean }>>;
  readonly produces: readonly LinkType[];
  /** A node that only waits takes none of the places for computing nodes. */
  readonly isIdle: boolean;
  run(inputs: NodeInputs, context: NodeContext): Promise<readonly LinkValue[]>;
}

/** The inputs of one node of a running graph. */
export interface NodeInputs {
  readonly values: Readonly<Record<string, ParameterValue>>;
  readonly links: Readonly<Record<string, LinkValue>>;
}

/** What a node's own code receives: its parameters, typed, and its linked inputs by name. */
export interface NodeRun<Parameters extends Record<string, ParameterSchema>> {
  readonly parameters: z.output<z.ZodObject<Parameters>>;
  /** The image on a required link. */
  readonly image: (link: string) => Pixels;
  /** All linked images, in the order of the links' definition. */
  readonly images: () => Pixels[];
  /** The object key of the file on a required link. */
  readonly file: (link: string) => string;
  readonly context: NodeContext;
}

/** The definition of a node class. */
export interface NodeDefinition<Parameters extends Record<string, ParameterSchema>> {
  readonly className: string;
  readonly parameters: Parameters;
  /** Linked inputs; a trailing `?` makes one optional. */
  readonly links: Readonly<Record<string, LinkType | `${LinkType}?`>>;
  readonly produces: readonly LinkType[];
  readonly isIdle?: boolean;
  run(run: NodeRun<Parameters>): Promise<readonly LinkValue[]>;
}

/** Makes a node class of its definition; keeps the definition's types inside. */
export function defineNode<Parameters extends Record<string, ParameterSchema>>(
  definition: NodeDefinition<Parameters>,
): NodeClass {
  const parametersSchema = z.object(definition.parameters);
  const links = Object.fromEntries(
    Object.entries(definition.links).map(([name, kind]) => [
      name,
      { type: kind.startsWith('FILE') ? ('FILE' as const) : ('IMAGE' as const), optional: kind.endsWith('?') },
    ]),
  );
  return {
    className: definition.className,
    parameters: definition.parameters,
    links,
    produces: definition.produces,
    isIdle: definition.isIdle ?? false,
    async run(inputs, context) {
      return definition.run({
        parameters: parametersSchema.parse(inputs.values),
        image: (link) => pixelsOf(link, inputs.links[link]),
        images: () =>
          Object.keys(links).flatMap((link) => {
            const value = inputs.links[link];
            return value === undefined ? [] : [pixelsOf(link, value)];
          }),
        file: (link) => fileOf(link, inputs.links[link]),
        context,
      });
    },
  };
}

/** The result of a node that produces one image. */
export function imageResult(pixels: Pixels): readonly LinkValue[] {
  return [{ type: 'IMAGE', pixels }];
}

function pixelsOf(link: string, value: LinkValue | undefined): Pixels {
  if (value?.type !== 'IMAGE') throw new Error(`no image is linked to ${link}`);
  return value.pixels;
}

function fileOf(link: string, value: LinkValue | undefined): string {
  if (value?.type !== 'FILE') throw new Error(`no file is linked to ${link}`);
  return value.objectKey;
}
