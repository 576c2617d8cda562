import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(__dirname, '../..');
/** What is no part of the repository, or somebody else's. */
const foreign = new Set(['node_modules', 'lib', 'archive', 'coverage']);

/** A page of the repository. */
export interface Page {
  /** From the root of the repository. */
  readonly path: string;
  readonly text: string;
}

/** A piece of code in a page. */
export interface CodeBlock {
  readonly language: string;
  readonly code: string;
  /** Where it is, such as `docs/tutorial.md:27`. */
  readonly place: string;
}

/** A heading's link target, or a link in a page's text. */
export interface Link {
  readonly target: string;
  readonly place: string;
}

/** A paragraph, an item of a list or a cell of a table, as a reader sees it: a piece of code is one word. */
interface Prose {
  readonly kind: 'paragraph' | 'cell';
  readonly text: string;
  readonly place: string;
}

/** Every Markdown file of the repository. */
export function markdownPages(folder = ''): Page[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return entry.name.startsWith('.') || foreign.has(entry.name) ? [] : markdownPages(path);
    return entry.name.endsWith('.md') ? [{ path, text: readFileSync(join(root, path), 'utf8') }] : [];
  });
}

/** The fenced blocks of a page. */
export function codeBlocks({ path, text }: Page): CodeBlock[] {
  return [...text.matchAll(/^( *)```(\w*)\n(.*?)^\1```$/gms)].map(({ index, 2: language = '', 3: code = '' }) => ({
    language,
    code,
    place: `${path}:${lineAt(text, index)}`,
  }));
}

/** Code within the sentences of a page. */
export function codeSpans({ path, text }: Page): CodeBlock[] {
  const prose = withoutBlocks(text);
  return [...prose.matchAll(/`([^`\n]+)`/g)].map(({ index, 1: code = '' }) => ({
    language: '',
    code,
    place: `${path}:${lineAt(prose, index)}`,
  }));
}

/** The text of a page without headings and blocks. */
export function prose({ path, text }: Page): Prose[] {
  const found: { kind: Prose['kind']; lines: string[]; place: string }[] = [];
  let isOpen = false;
  for (const [index, line] of withoutBlocks(text).split('\n').entries()) {
    const place = `${path}:${index + 1}`;
    const isCells = /^\s*\|/.test(line);
    if (isCells) {
      const cells = line.split(/(?<!\\)\|/).slice(1, -1);
      found.push(...cells.map((cell) => ({ kind: 'cell' as const, lines: [cell], place })));
    }
    isOpen &&= !/^\s*(?:[-*]|\d+\.)\s/.test(line);
    const isText = !isCells && !/^(?:#|\s*$)/.test(line);
    if (isText && isOpen) found.at(-1)?.lines.push(line);
    else if (isText) found.push({ kind: 'paragraph', lines: [line], place });
    isOpen = isText;
  }
  return found.map(({ kind, lines, place }) => {
    const words = lines.map((line) => line.replace(/^\s*(?:[-*>]|\d+\.)\s+/, '')).join(' ');
    const read = words.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/`[^`]*`/g, 'code');
    return { kind, text: read.replaceAll(/[*_]{1,2}/g, '').trim(), place };
  });
}

/** The links of a page's text, pictures included. */
export function links({ path, text }: Page): Link[] {
  const prose = withoutCode(text);
  return [...prose.matchAll(/\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)/gm)].map(({ index, 1: inline, 2: reference = '' }) => ({
    target: inline ?? reference,
    place: `${path}:${lineAt(prose, index)}`,
  }));
}

/** The anchors that GitHub gives the headings of a page, and those that it has as HTML. */
export function anchors({ text }: Page): Set<string> {
  const used = new Map<string, number>();
  const found = new Set([...text.matchAll(/<a (?:id|name)="([^"]+)"/g)].map(([, id = '']) => id));
  for (const [, heading = ''] of withoutBlocks(text).matchAll(/^#{1,6} +(.+?) *#*$/gm)) {
    const words = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*]/g, '');
    const name = words
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
      .replaceAll(' ', '-');
    const times = used.get(name) ?? 0;
    used.set(name, times + 1);
    found.add(times === 0 ? name : `${name}-${times}`);
  }
  return found;
}

/** The same lines, those of blocks empty. */
function withoutBlocks(text: string): string {
  return text.replaceAll(/^( *)```\w*\n.*?^\1```$/gms, (block) => block.replaceAll(/[^\n]/g, ''));
}

function withoutCode(text: string): string {
  return withoutBlocks(text).replaceAll(/`[^`\n]+`/g, (span) => ' '.repeat(span.length));
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}
