import { createScanner } from 'jsonc-parser';

/** Of the library's `SyntaxKind`, whose constants a module that is compiled by itself cannot read. */
const kinds = { openBrace: 1, closeBrace: 2, colon: 6, text: 10, end: 17 };

/**
 * The first field that is there twice in one object, at whatever depth: `JSON.parse` keeps the last of them without a
 * word. Reads token by token, so that depth costs no stack.
 *
 * @param json - must be what `JSON.parse` takes.
 */
export function repeatedField(json: string): string | undefined {
  const scanner = createScanner(json, true);
  const open: Set<string>[] = [];
  let text = '';
  for (let kind: number = scanner.scan(); kind !== kinds.end; kind = scanner.scan()) {
    if (kind === kinds.text) text = scanner.getTokenValue();
    else if (kind === kinds.openBrace) open.push(new Set());
    else if (kind === kinds.closeBrace) open.pop();
    else if (kind === kinds.colon) {
      const names = open.at(-1);
      if (names?.has(text) === true) return text;
      names?.add(text);
    }
  }
  return undefined;
}
