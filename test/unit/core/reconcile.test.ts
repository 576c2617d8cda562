import {
  afterDecisions,
  dependsOnService,
  type Finding,
  inOrder,
  judgeTask,
  judgeUncertain,
  type ServiceFacts,
  type TaskFacts,
  type UncertainFacts,
  type Verdict,
} from '../../../src/core/reconcile';

const nowMs = Date.parse('2026-03-01T12:00:00Z');
const minuteMs = 60_000;

function task(more: Partial<TaskFacts> = {}): TaskFacts {
  return {
    requestId: 'r-1',
    account: 'studio',
    workflowId: 'task:order-17',
    lastStatus: null,
    endsWithoutOutputs: 0,
    follower: null,
    archived: null,
    atService: null,
    ...more,
  };
}

function seen(status: string, expiresAtMs: number | null = nowMs + minuteMs): Partial<TaskFacts> {
  return { atService: { says: 'task', status, createdAtMs: nowMs, expiresAtMs } };
}

const whole = { folder: '', problems: [] };
const damaged = { folder: 'drafts', problems: ['drafts/r-1/0.png is missing'] };
const adopt = { do: 'adopt', requestId: 'r-1', account: 'studio', folder: '' };

/** What the verdict comes to: the safe reason, or the kind of the finding and what can be done. */
function told(verdict: Verdict): unknown {
  return 'safe' in verdict ? verdict.safe : [verdict.finding.kind, ...verdict.finding.remedies];
}

describe('a task with a request id', () => {
  it.each<[string, Partial<TaskFacts>, unknown]>([
    ['a running workflow follows', { follower: { workflowId: 'task:x', status: 'Running' } }, 'followed'],
    [
      'a workflow follows though it was archived before',
      { follower: { workflowId: 'task:x', status: 'Queuing' }, archived: damaged },
      'followed',
    ],
    [
      'waits for a person to archive it again',
      { follower: { workflowId: 'task:x', status: 'ArchiveIncomplete' } },
      ['archiveIncomplete', { do: 'rearchive', workflowId: 'task:x' }],
    ],
    ['is archived whole', { archived: whole }, 'archived'],
    ['was canceled, by the last word of its workflow', { lastStatus: 'Canceled' }, 'nothingToSave'],
    ['had no output when it was adopted, too', { ...seen('Success'), endsWithoutOutputs: 2 }, 'nothingToSave'],
    ['had no output', { ...seen('Success'), endsWithoutOutputs: 1 }, ['notArchived', adopt]],
    ['failed', seen('Failed'), 'nothingToSave'],
    ['was cancelled, as the service may spell it', seen('Cancelled'), 'nothingToSave'],
    ['queues', seen('Queuing'), ['running', adopt]],
    ['runs', { ...seen('Running'), lastStatus: 'Running' }, ['running', adopt]],
    ['is in a state nobody knows', seen('Rendering'), ['running', adopt]],
    ['succeeded', { ...seen('Success'), lastStatus: 'ArchiveIncomplete' }, ['notArchived', adopt]],
    ['succeeded, for ever', seen('Success', null), ['notArchived', adopt]],
    ['succeeded and should have expired', seen('Success', nowMs), ['notArchived', adopt]],
    ['misses a file', { archived: damaged, ...seen('Success') }, ['damaged', { ...adopt, folder: 'drafts' }]],
    ['failed and misses a file', { archived: damaged, ...seen('Failed') }, ['damaged', { ...adopt, folder: 'drafts' }]],
    [
      'misses a file and should have expired',
      { archived: damaged, ...seen('Success', nowMs - 1) },
      ['damaged', { ...adopt, folder: 'drafts' }],
    ],
    ['misses a file and was deleted', { archived: damaged, atService: { says: 'gone' } }, ['lost']],
    ['misses a file and is not known any more', { archived: damaged, atService: { says: 'unknown' } }, ['lost']],
    ['was deleted', { atService: { says: 'gone' } }, ['lost']],
    ['is not known any more', { atService: { says: 'unknown' } }, ['lost']],
    ['only a list names', { workflowId: null, atService: { says: 'unknown' } }, ['unknownId']],
    ['the service says nothing of', { atService: { says: 'nothing', words: 'timeout' } }, ['unanswered', adopt]],
    [
      'the service refuses the key for',
      { atService: { says: 'nothing', words: 'HTTP 401', refusedKeyOf: 'studio' } },
      ['unanswered'],
    ],
    ['nobody asked about', {}, ['unanswered', adopt]],
  ])('that %s', (_, more, expected) => {
    expect(told(judgeTask(task(more), nowMs))).toEqual(expected);
  });

  it('is asked about exactly when the verdict depends on the answer', () => {
    const answers: ServiceFacts[] = [
      { says: 'gone' },
      { says: 'unknown' },
      { says: 'task', status: 'Running', createdAtMs: null, expiresAtMs: null },
      { says: 'task', status: 'Failed', createdAtMs: null, expiresAtMs: null },
    ];
    const followers = [
      null,
      { workflowId: 'task:x', status: 'Running' },
      { workflowId: 'task:x', status: 'ArchiveIncomplete' },
    ];
    for (const follower of followers) {
      for (const archived of [null, whole, damaged]) {
        for (const lastStatus of [null, 'Canceled', 'Failed']) {
          const facts = task({ follower, archived, lastStatus });
          const verdicts = answers.map((atService) => JSON.stringify(judgeTask({ ...facts, atService }, nowMs)));
          expect([facts, new Set(verdicts).size > 1]).toEqual([facts, dependsOnService(facts)]);
        }
      }
    }
  });
});

function create(more: Partial<UncertainFacts> = {}): UncertainFacts {
  const record = { workflowId: 'task:order-17', createNumber: 1, sentAtMs: nowMs };
  return { ...record, isSuperseded: false, openStatus: null, ...more };
}

describe('a create that nobody knows the request id of', () => {
  const record = { workflowId: 'task:order-17', createNumber: 1 };
  const { workflowId } = record;
  const settled = (requestId: string | null): object => ({ do: 'settle', ...record, requestId });

  it.each<[string, Partial<UncertainFacts>, unknown]>([
    ['whose workflow still sends it', { openStatus: 'Creating' }, 'followed'],
    ['in whose place another was allowed', { isSuperseded: true }, 'superseded'],
    [
      'whose workflow waits for a person',
      { openStatus: 'CreateUncertain' },
      [
        'uncertain',
        { do: 'resolveAdopt', workflowId, requestId: null },
        { do: 'resolveRecreate', workflowId },
        { do: 'resolveAbandon', workflowId },
      ],
    ],
    ['whose workflow is over', {}, ['uncertain', settled(null), { do: 'settleNone', ...record }]],
  ])('%s', (_, more, expected) => {
    expect(told(judgeUncertain(create(more), []))).toEqual(expected);
  });

  it('is shown the unknown tasks of that time, the nearest first', () => {
    const at = (requestId: string, afterMs: number): { requestId: string; createdAtMs: number } => {
      return { requestId, createdAtMs: nowMs + afterMs };
    };
    const candidates = [
      ...[at('hours-later', 60 * minuteMs), at('later', 5 * minuteMs), at('at-once', 1_000)],
      ...[at('before', -3 * minuteMs), at('by-a-slow-clock', -2_000), at('last', 9 * minuteMs)],
    ];

    expect(told(judgeUncertain(create(), candidates))).toEqual([
      'uncertain',
      ...['at-once', 'by-a-slow-clock', 'later'].map(settled),
      { do: 'settleNone', ...record },
    ]);
    expect(told(judgeUncertain(create(), candidates.slice(0, 1)))).toContainEqual(settled('hours-later'));
    expect(told(judgeUncertain(create({ sentAtMs: null }), candidates))).toEqual([
      'uncertain',
      settled(null),
      { do: 'settleNone', ...record },
    ]);
  });
});

describe('findings', () => {
  it('propose no adoption of a task that an uncertain create may have made, before that is decided', () => {
    const candidate: Finding = {
      ...{ kind: 'running', requestId: 'r-1', workflowId: null, account: 'studio', reason: 'Nobody follows it.' },
      remedies: [{ do: 'adopt', requestId: 'r-1', account: 'studio', folder: '' }],
    };
    const other: Finding = { ...candidate, requestId: 'r-2' };
    const uncertain: Finding = {
      ...{ kind: 'uncertain', requestId: null, workflowId: 'task:a', account: null, reason: '' },
      remedies: [
        { do: 'resolveAdopt', workflowId: 'task:a', requestId: 'r-1' },
        { do: 'resolveRecreate', workflowId: 'task:a' },
      ],
    };
    const [first, ...rest] = afterDecisions([candidate, other, uncertain]);

    expect(first).toMatchObject({ kind: 'running', remedies: [] });
    expect(first?.reason).toMatch(/^Nobody follows it\. .*create of task:a made: decide that first/);
    expect(rest).toEqual([other, uncertain]);
    expect(afterDecisions([candidate, other])).toEqual([candidate, other]);
  });

  it('come with what still costs first, and in a steady order', () => {
    const of = (kind: Finding['kind'], requestId: string): Finding => {
      return { kind, requestId, workflowId: null, account: null, reason: '', remedies: [] };
    };
    const findings = [
      of('lost', 'a'),
      of('uncertain', 'b'),
      of('running', 'd'),
      of('notArchived', 'e'),
      of('running', 'c'),
    ];

    expect(inOrder(findings).map(({ requestId }) => requestId)).toEqual(['c', 'd', 'e', 'b', 'a']);
    expect(inOrder([...findings].reverse())).toEqual(inOrder(findings));
  });
});
