import { withPrintableOutput } from '../../../src/commands/command-context';
import { TerminalLines } from '../../../src/commands/terminal';
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
