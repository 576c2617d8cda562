import { markdownCode } from '../../../src/core/text';
import { sweepDetails } from '../../../src/workflows/sweep';

describe('the page of a sweep', () => {
  const safe = { archived: 7, followed: 1, nothingToSave: 0, superseded: 0 };
  const result = {
    endedAt: '2026-03-01T12:00:00.000Z',
    safe,
    unsafe: {},
    handled: 0,
    changesSince: null,
    next: null,
    report: 'report',
    text: 'All safe.',
  };

  it('says how much is safe, or what is not, with its commands', () => {
    expect(sweepDetails(result)).toMatch(
      /^### Nothing unsafe[^\n]*\n\n- \*\*Compared:\*\* everything[^\n]*\n- \*\*Safe:\*\* 8\n/,
    );
    const changed = sweepDetails({ ...result, changesSince: '2026-03-01T11:00:00.000Z' });
    expect(changed).toContain('2026-03-01 11:00');
    expect(changed).not.toMatch(/everything/i);
    const text =
      'Lost (1):\n  r-1: It is gone.\n    longhaul adopt r-1\n\n1 not safe. Safe: 7 (7 archived, 0 followed).\n';
    const page = sweepDetails({ ...result, unsafe: { running: 2, lost: 1 }, handled: 4, text });
    expect(page).toContain('### 3 not safe');
    expect(page).toContain('Taken care of by this sweep:** 4');
    expect(page).toContain(
      '\n\n**Lost (1):**\n\nr-1: It is gone.\n\n- `longhaul adopt r-1`\n\n1 not safe. Safe: 7 (7 archived, 0 followed).',
    );
  });

  it.each(['# heading', '<img src=x>', '[a](http://evil.example)', '`` ` ```'])(
    'shows words of the service as they are written, and not as Markdown: %s',
    (words) => {
      const page = sweepDetails({ ...result, text: `  r-1: ${words}\n    longhaul ${words}\n${words}` });
      const [finding = '', , command = '', last = ''] = page.split('\n').slice(-4);
      expect(finding).toBe(markdownCode(`r-1: ${words}`));
      expect(command).toBe(`- ${markdownCode(`longhaul ${words}`)}`);
      expect(last).toBe(markdownCode(words));
    },
  );
});
