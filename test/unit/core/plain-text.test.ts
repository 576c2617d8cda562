import fc from 'fast-check';
import { markdownText, printableLine, printableText } from '../../../src/core/text';

/** What a terminal acts on, and what reverses or hides text. */
const active = /[\p{Cc}\p{Bidi_Control}\u2028\u2029\ufeff\u200b\u{e0041}]/u;

describe('text from outside on a terminal', () => {
  it.each([
    ['colours and cursor moves', 'a\u001b[31mred\u001b[2J', String.raw`a\u001b[31mred\u001b[2J`],
    [
      'a link (OSC 8)',
      '\u001b]8;;http://evil.example\u0007click\u001b]8;;\u0007',
      String.raw`\u001b]8;;http://evil.example\u0007click\u001b]8;;\u0007`,
    ],
    ['control characters of eight bits', 'a\u009b31mb\u009d8;;x\u009c', String.raw`a\u009b31mb\u009d8;;x\u009c`],
    ['a text that runs backwards', 'gpj.\u202exe\u2066', String.raw`gpj.\u202exe\u2066`],
    ['what cannot be seen', 'a\u200bb\ufeff\u{e0041}', String.raw`a\u200bb\ufeff\udb40\udc41`],
    ['delete and backspace', 'abc\u0008\u007f', String.raw`abc\u0008\u007f`],
  ])('shows %s as JSON writes it', (_what, text, shown) => {
    expect(printableText(text)).toBe(shown);
    expect(printableLine(text)).toBe(shown);
  });

  it('leaves words of every language and emoji alone', () => {
    const text = 'naïve 漢字 नमस्ते می‌خواهم 👩‍🚀';

    expect(printableLine(text)).toBe(text);
  });

  it('changes no value of JSON', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const printed = printableText(JSON.stringify({ text }));
        expect(JSON.parse(printed)).toEqual({ text });
        expect(printed).not.toMatch(active);
      }),
    );
  });
});

describe('text from outside in Markdown', () => {
  it.each(['request-1', 'the end of the run', '4 failed, 2 canceled', 'my_photo.jpg', 'Größe: 3 %'])(
    'leaves the plain words %j as they are',
    (text) => {
      expect(markdownText(text)).toBe(text);
    },
  );

  it.each([
    ['[click](http://evil.example)', '`[click](http://evil.example)`'],
    ['www.evil.example', '`www.evil.example`'],
    ['mailto:a', '`mailto:a`'],
    ['a `b` ``c', '``` a `b` ``c ```'],
    ['`', '`` ` ``'],
    ['_a_', '`_a_`'],
    ['a\u202eb', '`a\\u202eb`'],
    ['a--b', '`a--b`'],
  ])('makes %j code', (text, shown) => {
    expect(markdownText(text)).toBe(shown);
  });

  it('closes the code of a text that is cut', () => {
    expect(markdownText(`<b>${'x'.repeat(50)}`, 10)).toBe('`<b>xxxxxx…`');
  });

  it('never ends its code before the text does', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('`', ' ', 'a', '[', '\\', '\n') }), (text) => {
        const shown = markdownText(text);
        const fence = /^`*/.exec(shown)?.[0] ?? '';
        const inner = shown.slice(fence.length, shown.length - fence.length);
        const longestRun = Math.max(0, ...(inner.match(/`+/g) ?? []).map((run) => run.length));
        expect(fence.length > longestRun || fence === '').toBe(true);
        expect(fence === '' ? shown : 'a').toMatch(/^[a ]*$/);
        expect(shown.endsWith(fence)).toBe(true);
      }),
    );
  });
});
