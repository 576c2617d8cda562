/**
 * Control, formatting and line characters, which move a cursor, make a link, reverse the text around them or hide in
 * it. The two joiners stay: words and emoji are made of them, and they do nothing of that.
 */
const activeCharacter = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * Text from outside as a terminal may print it: every character that a terminal acts on, but line breaks, is written
 * as JSON escapes it (`\u001b`). Of JSON it changes no value.
 */
export function printableText(text: string): string {
  return text.replace(activeCharacter, (character) => (character === '\n' ? character : jsonEscape(character)));
}

/** The same on one line: line breaks and tabs become a space, so that a value cannot make up a line of its own. */
export function printableLine(text: string): string {
  return printableText(text.replace(/[\t\n\v\f\r\u0085\u2028\u2029]+/g, ' '));
}

/** Words in which no Markdown renderer finds a link, formatting, mathematics or anything to set in nicer type. */
const plainWords =
  /^(?!.*(?:\bwww\.|:\S|--|\.\.))(?:[\p{L}\p{M}\p{N} ,.;:’…%+=?!-]|(?<=[\p{L}\p{N}])_(?=[\p{L}\p{N}]))*$/iu;

/**
 * Text from outside as Markdown may show it, on one line of at most so many characters: plain words as they are, all
 * else as a code span, in which nothing becomes a link, a picture, HTML or formatting. Escapes by backslash would not
 * do: GitHub's flavour finds its links after it has removed them.
 */
export function markdownText(text: string, maxLength = Infinity): string {
  const whole = printableLine(text);
  const line = whole.length > maxLength ? `${whole.slice(0, maxLength - 1)}…` : whole;
  return plainWords.test(line) ? line : codeSpan(line);
}

/** Closed by more backticks than the text has in a row; backticks at its ends need a space before them. */
function codeSpan(line: string): string {
  const longestRun = Math.max(0, ...(line.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longestRun + 1);
  const pad = longestRun > 0 ? ' ' : '';
  return `${fence}${pad}${line}${pad}${fence}`;
}

function jsonEscape(character: string): string {
  return Array.from({ length: character.length }, (_, index) => {
    return `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`;
  }).join('');
}
