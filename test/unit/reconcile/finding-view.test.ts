import { boundedReconciliationText, findingView, reconciliationText } from '../../../src/reconcile/finding-view';
import type { Finding, Remedy } from '../../../src/core/reconcile';
import { shellWords } from '../../support/shell-words';

const nothing = { followed: 0, archived: 0, nothingToSave: 0, superseded: 0 };

function finding(...remedies: readonly Remedy[]): Finding {
  const about = { requestId: 'r-1', workflowId: 'task:order-17', account: 'studio' };
  return { kind: 'running', ...about, reason: 'It runs.', remedies };
}

function adopt(more: Partial<Remedy & { do: 'adopt' }> = {}): Remedy {
  return { do: 'adopt', requestId: 'r-1', account: 'default', folder: '', ...more };
}

describe('the command of a remedy', () => {
  it.each<[Remedy, string | null, string]>([
    [adopt(), null, 'longhaul adopt r-1'],
    [
      adopt({ account: 'studio', folder: 'my drafts/7' }),
      null,
      "longhaul adopt r-1 --account studio --archive 'my drafts/7'",
    ],
    [{ do: 'rearchive', workflowId: 'task:a' }, null, 'longhaul rearchive task:a'],
    [
      { do: 'resolveAdopt', workflowId: 'task:a', requestId: null },
      'it exists',
      'longhaul resolve task:a --adopt REQUEST_ID',
    ],
    [
      { do: 'resolveRecreate', workflowId: 'task:a' },
      'create it once more; may be paid twice',
      'longhaul resolve task:a --recreate',
    ],
    [{ do: 'resolveAbandon', workflowId: 'task:a' }, 'give it up', 'longhaul resolve task:a --abandon'],
    [
      { do: 'settle', workflowId: 'task:a', createNumber: 2, requestId: 'r-9' },
      'it exists',
      'longhaul reconcile --settle task:a/2=r-9',
    ],
    [
      { do: 'settleNone', workflowId: 'task:a', createNumber: 2 },
      'nothing was created',
      'longhaul reconcile --settle task:a/2=none',
    ],
  ])('%j', (remedy, when, command) => {
    expect(findingView(finding(remedy), null).commands).toEqual([{ when, command }]);
  });

  it('names the queue of the workers when it is not the usual one', () => {
    expect(findingView(finding(adopt()), 'night').commands[0]?.command).toBe('longhaul adopt r-1 --task-queue night');
  });

  it.each(["it's", '$HOME', 'a b', '`id`', '"x"', '--key', '*', '\\', 'ü'])(
    'reaches the command as it is: %s',
    (id) => {
      const { command } = findingView(finding(adopt({ requestId: id })), null).commands[0] ?? { command: '' };
      expect(shellWords(command).filter((word) => word !== '--')).toEqual(['adopt', id]);
    },
  );
});

describe('a comparison for a person', () => {
  it('gives each finding a line, and its commands below', () => {
    const findings = [
      findingView(finding(adopt({ account: 'studio' })), null),
      findingView({ ...finding(), kind: 'lost', workflowId: null, account: null, reason: 'It expired.' }, null),
    ];
    expect(reconciliationText({ safe: { ...nothing, superseded: 1 } }, findings).split('\n')).toEqual([
      'Running, and followed by no workflow (1):',
      '  r-1, task:order-17, account studio: It runs.',
      '    longhaul adopt r-1 --account studio',
      '',
      'Lost (1):',
      '  r-1: It expired.',
      '',
      '2 not safe. Safe: 1 (0 archived, 0 followed, 0 without a result, 1 created again in their place).',
      '',
    ]);
  });

  it('is bounded by complete findings with their commands, and says how many more there are, and where', () => {
    const views = Array.from({ length: 5 }, (_, index) => {
      const reason = `${'It runs. '.repeat(100)}End of ${index}.`;
      return findingView({ ...finding(adopt({ requestId: `r-${index}` })), reason }, null);
    });
    const bounds = { counts: { running: 7 }, where: 'in the report', maxLength: 3_000 };
    const text = boundedReconciliationText({ safe: nothing }, views, bounds);
    expect(text.length).toBeLessThanOrEqual(3_000);
    expect(text).toContain('Running, and followed by no workflow (7):');
    expect(text).toMatch(/End of 1\.\n {4}longhaul adopt r-1\n\n7 not safe\..*\n\nand 5 more in the report\n$/);
    expect(text).not.toContain('End of 2');

    const all = boundedReconciliationText({ safe: nothing }, views, {
      ...bounds,
      counts: { running: 5 },
      maxLength: 9_000,
    });
    expect(all).toContain('End of 4');
    expect(all).not.toContain('more');
  });
});
