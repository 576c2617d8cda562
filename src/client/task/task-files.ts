import { Blob } from 'node:buffer';
import { addAbortSignal, Readable } from 'node:stream';
import { ReadableStream } from 'node:stream/web';
import type { InputValue, NewTaskInput, ResourceForm, TaskInput } from '../../contract/task-input';
import { isRecord } from '../../core/json';
import { unknownNameProblems } from '../../core/nearest-name';
import { errorCode, errorMessage, safeText, showValue } from '../../core/text';
import { InputInvalidError } from '../errors';
import type { OwnField } from '../start-check';

/** A web stream, such as `request.body`, by the types of Node or of a browser. */
export interface WebStream {
  readonly locked: boolean;
  getReader(): object;
  cancel(reason?: unknown): Promise<void>;
}

/** A `Blob`, or a `File` of a form. */
export interface WebBlob {
  readonly size: number;
  stream(): WebStream;
}

/** An input file whose content is here: bytes, or a stream that is read once. It is staged, where workers read it. */
export interface ContentInput {
  readonly content: Uint8Array | Readable | WebBlob | WebStream;
  /** The file name, from whose extension service and storage derive the type. Another name is another input. */
  readonly name: string;
  /** What the app gets for it. @default url */
  readonly as?: ResourceForm;
  readonly file?: never;
}

/** What `start` takes: a task's input, some of whose files may be contents, and the key that makes it this one task. */
export type ContentTaskInput = Omit<NewTaskInput, 'inputs' | OwnField> & {
  /** Keys `<node_id>:<NodeClass>.<parameter>`; a value is text, a number, a file or a content. */
  readonly inputs: Readonly<Record<string, InputValue | ContentInput>>;
  /** The same key never makes a second task. 1 to 80 letters, digits, dots, underscores or hyphens. @default random */
  readonly key?: string;
};

/** A place for contents that workers can read; `openStaging` of `longhaul/files` makes one. */
export interface InputStaging {
  /**
   * Keeps a content under a key that it and its name give; returns its `s3:` URI. Throws an error with the code
   * `EMPTY` for a content without a byte, or `UNREADABLE` for one that fails, with its own error as `cause`.
   * @param signal - ends it, with the signal's reason.
   */
  keep(content: Readable, name: string, signal?: AbortSignal): Promise<string>;
}

/** How long a link of an output lasts. */
export interface OutputLinkOptions {
  /** Milliseconds, a fraction of a second being left out: from a second to seven days. */
  readonly expiresInMs: number;
}

/** How an output is read. */
export interface OutputReadOptions {
  readonly signal?: AbortSignal;
}

/** An archived output, to be read. */
export interface TaskOutput {
  /** From 0, among the outputs of the task. */
  readonly index: number;
  readonly name: string;
  /** By its extension; `application/octet-stream` when that says nothing. */
  readonly contentType: string;
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
  /** An absolute path, or an `s3:` URI. */
  readonly path: string;
  /** Must be read or destroyed; the stream fails if the bytes are not those archived. Throws `InputInvalidError`. */
  read(options?: OutputReadOptions): Promise<Readable>;
  /**
   * A presigned URL, which anyone can fetch until it ends, earlier with a role's temporary credentials; null for a
   * folder. The bucket is not asked: of an output that was removed it leads to 404. Throws `InputInvalidError`.
   */
  link(options: OutputLinkOptions): Promise<string | null>;
}

/** Where the outputs of a task are; a `TaskResult` is one. */
export interface ArchivedResult {
  readonly workflowId: string;
  readonly requestId: string | null;
  readonly manifest: string | null;
}

/** Where workers archive outputs; `openArchive` of `longhaul/files` makes one. */
export interface OutputArchive {
  /** All that a task has in the archive, in the service's order. */
  outputs(result: ArchivedResult): Promise<readonly TaskOutput[]>;
  /** The same of a task that Temporal has forgotten, by its create record; undefined: it is not found. @default none is */
  outputsOf?(workflowId: string): Promise<readonly TaskOutput[] | undefined>;
}

/**
 * Everything is checked before anything is staged; what cannot be used is destroyed, so that no stream stays open.
 * @param check - throws for what no task can be started with.
 * @param signal - ends it, with the signal's reason; not looked at before `check`.
 */
export async function stageContents<Input extends TaskInput>(
  input: Input | ContentTaskInput,
  staging: InputStaging | null,
  check: (input: Input) => void,
  signal?: AbortSignal,
): Promise<Input> {
  // From JavaScript the input may be anything.
  const given: unknown = input;
  const inputs = isRecord(given) ? given['inputs'] : undefined;
  const listed: [string, unknown][] = isRecord(inputs) ? Object.entries(inputs) : [];
  const contents = listed.filter((one): one is [string, ContentInput] => isRecord(one[1]) && 'content' in one[1]);
  const streams = contents.map(([, { content }]) => content).filter(isReadOnce);
  const unnamed = listed
    .filter(([, value]) => isBytes(value))
    .map(([key]) => `inputs[${showValue(key)}] is bytes without a name; give { content, name: "photo.jpg" }.`);
  if (unnamed.length > 0) throw new InputInvalidError(unnamed);
  if (contents.length === 0) return input as Input;
  // One that fails while another is staged would end the process; reading it throws the failure.
  for (const stream of streams) if (stream instanceof Readable) stream.on('error', () => undefined);
  try {
    const problems = contents.flatMap(([key, value], index) => contentProblems(key, value, contents.slice(0, index)));
    if (problems.length > 0) throw new InputInvalidError(problems);
    check(withFiles(input, new Map(contents.map(([key, { name }]) => [key, `/${name}`]))));
    if (staging === null) {
      const remedy =
        'this client has no place for it: give Longhaul.connect { staging: openStaging() } of @longhaul/client/files (longhaul/files), or give { file } with a path, an https: URL or an s3: URI.';
      throw new InputInvalidError(contents.map(([key]) => `inputs[${showValue(key)}] is a content, and ${remedy}`));
    }
    const uris = new Map<string, string>();
    // One after another: each passes through a temporary file.
    for (const [key, content] of contents) uris.set(key, await keepContent(staging, key, content, signal));
    return withFiles(input, uris);
  } finally {
    for (const stream of streams) {
      if (stream instanceof Readable) stream.destroy();
      else if (!stream.locked) void stream.cancel().catch(() => undefined);
    }
  }
}

/** A stream is known to be empty at its end only: nothing was sent of it by then. */
async function keepContent(
  staging: InputStaging,
  key: string,
  { content, name }: ContentInput,
  signal: AbortSignal | undefined,
): Promise<string> {
  signal?.throwIfAborted();
  const stream = toReadable(content).on('error', () => undefined);
  if (signal !== undefined) addAbortSignal(signal, stream);
  try {
    return await staging.keep(stream, name, signal);
  } catch (error) {
    signal?.throwIfAborted();
    if (errorCode(error) === 'EMPTY') throw new InputInvalidError([emptyContent(key)]);
    if (errorCode(error) !== 'UNREADABLE' || !(error instanceof Error)) throw error;
    const { cause } = error;
    const problem = `inputs[${showValue(key)}].content cannot be read (${safeText(errorMessage(cause))}); give a stream that brings its content.`;
    throw Object.assign(new InputInvalidError([problem]), { cause });
  } finally {
    // Of a web stream, which this locked, it is the only one that can be closed.
    stream.destroy();
  }
}

function toReadable(content: ContentInput['content']): Readable {
  if (content instanceof Readable) return content;
  if (content instanceof Uint8Array) return Readable.from([Buffer.from(content)]);
  const stream = content instanceof Blob ? content.stream() : content;
  return Readable.fromWeb(stream as ReadableStream);
}

function isReadOnce(value: unknown): value is Readable | ReadableStream {
  return value instanceof Readable || value instanceof ReadableStream;
}

function isBytes(value: unknown): value is Uint8Array | Readable | ReadableStream | Blob {
  return value instanceof Uint8Array || value instanceof Blob || isReadOnce(value);
}

function emptyContent(key: string): string {
  return `inputs[${showValue(key)}] is empty; give a content with at least one byte.`;
}

/** @param before - the contents before it: a second input of a stream would find it read, and be refused as empty. */
function contentProblems(
  key: string,
  input: ContentInput,
  before: readonly (readonly [string, ContentInput])[],
): string[] {
  const { file, ...fields }: Partial<Record<keyof ContentInput, unknown>> = input;
  const { content, name } = fields;
  const where = `inputs[${showValue(key)}]`;
  const problems = unknownNameProblems('field', Object.keys(fields), ['content', 'name', 'as']).map(
    (one) => `${where}: ${one}`,
  );
  if (!isBytes(content)) {
    problems.push(
      `${where}.content is ${showValue(content)}; give a Buffer, a Uint8Array, a Blob, a stream of Node's or a web stream.`,
    );
  } else if (!isReadOnce(content)) {
    if ((content instanceof Blob ? content.size : content.length) === 0) problems.push(emptyContent(key));
  } else if (wasRead(content)) {
    problems.push(`${where}.content was read or closed before; give a new stream for each start.`);
  }
  const [first] = isReadOnce(content) ? before.filter((one) => one[1].content === content) : [];
  if (first !== undefined) {
    problems.push(
      `${where}.content is the stream of inputs[${showValue(first[0])}], which is read once; give each a stream of its own, or the bytes.`,
    );
  }
  if (file !== undefined) {
    problems.push(`${where} has file and content; give one of them.`);
  } else if (typeof name !== 'string' || !isFileName(name)) {
    const remedy = `a file name with its extension, such as "photo.png", of at most ${maxNameLength} characters`;
    problems.push(`${where}.name is ${showValue(name)}; give ${remedy}.`);
  }
  return problems;
}

/** One that failed is left to its reading, which says why. */
function wasRead(stream: Readable | ReadableStream): boolean {
  if (stream instanceof ReadableStream) return stream.locked;
  return stream.readableEnded || (stream.destroyed && stream.errored === null);
}

const maxNameLength = 100;

/** The service refuses a name without an extension. */
function isFileName(name: string): boolean {
  const isPlain = /^[^/\\?#\p{Cc}\p{Cf}]+$/u.test(name) && /[^.]\.[A-Za-z0-9]{1,10}$/.test(name);
  return isPlain && Array.from(name).length <= maxNameLength;
}

function withFiles<Input>(input: Input | ContentTaskInput, files: ReadonlyMap<string, string>): Input {
  const { inputs } = input as ContentTaskInput;
  const named = Object.entries(inputs).map(([key, value]): [string, unknown] => {
    const file = files.get(key);
    return [key, file === undefined ? value : { file, as: (value as ContentInput).as }];
  });
  return { ...(input as ContentTaskInput), inputs: Object.fromEntries(named) } as Input;
}
