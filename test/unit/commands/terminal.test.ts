import { markdownText, showValue } from '../../../src/core/text';
import { withPrintableOutput } from '../../../src/commands/command-context';
import { fit, tableLines, TerminalLines, wrap } from '../../../src/commands/terminal';
import { FakeContext, FakeStream } from '../../support/fake-context';

describe('a pseudo-terminal to which nobody gave a size, as of a container without one', () => {
  it('is taken for one of the usual width, and not for one of no width at all', () => {
    const context = withPrintableOutput(new FakeContext({}, 0));
    expect(context.stderr.columns).toBeUndefined();
    const lines = new TerminalLines(new FakeStream(0), Date.now);
    expect(lines.width).toBe(79);
    lines.stop();
  });

  it('keeps the width of any other', () => {
    expect(withPrintableOutput(new FakeContext({}, 132)).stderr.columns).toBe(132);
  });
});

describe('a table', () => {
  it('may have more rows than a function takes arguments', () => {
    const rows = Array.from({ length: 200_000 }, (_, row) => [`row-${row}`, 'x']);
    expect(tableLines(rows).slice(-2)).toEqual(['row-199998  x', 'row-199999  x']);
  });
});

/** Of a character of two UTF-16 units. */
const half = /\p{Cs}/u;

describe('a text that is cut', () => {
  it.each([5, 6, 7])('at %d characters ends with no half of an emoji', (width) => {
    expect(fit('ab😀😀😀😀', width)).toMatch(/^ab(?:😀)*…$/u);
    expect(wrap('ab😀😀😀😀', width, 9).join('')).toBe('ab😀😀😀😀');
    expect(wrap('ab😀😀😀😀', width, 9).filter((line) => half.test(line))).toEqual([]);
  });

  it('is whole characters in messages, too', () => {
    const texts = [0, 1].map((more) => `${'x'.repeat(60 + more)}${'😀'.repeat(60)}`);
    for (const text of texts) {
      expect(showValue(text)).not.toMatch(half);
      expect(markdownText(text, 100)).not.toMatch(half);
    }
  });
});
