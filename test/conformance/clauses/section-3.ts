import { dataOf, describe, fieldIs, itemsOf, quote, textOf } from '../answers';
import { inSection, type Clause } from '../clause';
import { isTerminal, STATES } from '../follow-task';
import { allHold, doesNotHold, holdsIf, NotCheckable } from '../verdict';

/** Section 3: states and transitions. */
export const section3: readonly Clause[] = inSection(
  '3',
  {
    statement: 'a create accepted in asynchronous or callback mode makes a task that is Queuing',
    check: async ({ tasks }) => {
      const { polls } = await tasks.followed();
      return firstState(polls.map(({ status }) => status));
    },
    checkThroughClient: async ({ journeys }) => {
      const { polls } = await journeys.followed();
      return firstState(polls.map(({ detail }) => detail.status));
    },
  },
  {
    statement: 'a task moves from Queuing over Preparing and Running to Success, and never back',
    check: async ({ tasks }) => inOrder((await tasks.followed()).polls.map(({ status }) => status)),
    checkThroughClient: async ({ journeys }) =>
      inOrder((await journeys.followed()).polls.map(({ detail }) => detail.status)),
  },
  {
    statement: 'a task that has ended stays as it is',
    check: async ({ tasks }) => {
      const { end } = await tasks.followed();
      const later = await tasks.statesAfterEnd();
      return holdsIf(
        later.every((status) => status === end.status),
        `${end.status} became ${later.join(', ')}`,
      );
    },
  },
  {
    statement: 'completion sets ended_at and makes outputs available',
    check: async ({ tasks }) => {
      const { end } = await tasks.followed();
      return allHold([
        fieldIs(dataOf(end.detail), 'ended_at', 'timestamp'),
        holdsIf(itemsOf(dataOf(end.outputs)['outputs']).length > 0, describe(end.outputs)),
      ]);
    },
    checkThroughClient: async ({ journeys }) => {
      const { detail, outputs } = (await journeys.followed()).end;
      return holdsIf(detail.endedAt !== undefined && outputs.outputs.length > 0, quote(detail.endedAt?.raw));
    },
  },
  {
    statement: 'outputs is an empty array while Running',
    check: async ({ tasks }) => {
      const { polls } = await tasks.followed();
      const running = polls.map(({ outputs }) => dataOf(outputs)).filter(({ status }) => status === 'Running');
      if (running.length === 0) throw new NotCheckable('the task was never seen Running');
      return allHold(
        running.map(({ outputs }) =>
          holdsIf(Array.isArray(outputs) && outputs.length === 0, `outputs is ${quote(outputs)}`),
        ),
      );
    },
    checkThroughClient: async ({ journeys }) => {
      const { polls } = await journeys.followed();
      const running = polls.filter(({ outputs }) => outputs.status === 'Running');
      if (running.length === 0) throw new NotCheckable('the task was never seen Running');
      return holdsIf(
        running.every(({ outputs }) => outputs.outputs.length === 0),
        'there are outputs already',
      );
    },
  },
  {
    statement: 'outputs is filled when the status is Success',
    check: async ({ tasks }) => {
      const { end } = await tasks.followed();
      const { status, outputs } = dataOf(end.outputs);
      return holdsIf(status === 'Success' && itemsOf(outputs).length > 0, describe(end.outputs));
    },
    checkThroughClient: async ({ journeys }) => {
      const { outputs } = (await journeys.followed()).end;
      return holdsIf(outputs.status === 'Success' && outputs.outputs.length > 0, `${outputs.status}, no outputs`);
    },
  },
  {
    statement: 'for Failed there is an output item with error_type and an error message',
    needs: ['paid', 'failingApp'],
    check: async ({ tasks }) => {
      const { end } = await tasks.failed();
      const wrong = itemsOf(dataOf(end.outputs)['outputs']).find(({ error_type }) => error_type !== 'NOT_ERROR');
      if (end.status !== 'Failed') throw new NotCheckable(`the failing app ended ${end.status}`);
      if (wrong === undefined) return doesNotHold(describe(end.outputs));
      return holdsIf(textOf(wrong['error_msg']) + textOf(wrong['error_message']) !== '', quote(wrong));
    },
    checkThroughClient: async ({ journeys }) => {
      const { outputs } = (await journeys.failed()).end.outputs;
      return holdsIf(
        outputs.some(({ errorType, errorMessage }) => errorType !== 'NOT_ERROR' && errorMessage !== undefined),
        'none',
      );
    },
  },
  {
    statement: 'cancel moves a task from Queuing to Canceled',
    check: async ({ tasks }) => {
      const { first } = await tasks.canceled();
      if (first.before !== 'Queuing') throw new NotCheckable(`the task was ${first.before} when it was to be canceled`);
      return holdsIf(first.after === 'Canceled', `${describe(first.answer)}, then ${first.after}`);
    },
    checkThroughClient: async ({ journeys }) => {
      const { before, after } = await journeys.canceled();
      if (before.status !== 'Queuing') throw new NotCheckable(`the task was ${before.status}`);
      return holdsIf(after.status === 'Canceled', `it is ${after.status}`);
    },
  },
  {
    statement: 'repeating cancel has no side effect',
    check: async ({ tasks }) => {
      const { first, second } = await tasks.canceled();
      if (first.after !== 'Canceled') throw new NotCheckable('the task could not be canceled');
      return holdsIf(second.after === 'Canceled', `it became ${second.after}`);
    },
    checkThroughClient: async ({ journeys }) => {
      const { after, end } = await journeys.canceled();
      return holdsIf(
        after.status === end.status && after.updatedAt?.raw === end.updatedAt?.raw,
        `it became ${end.status}`,
      );
    },
  },
  {
    statement: 'a canceled task is removed from the queue',
    check: async ({ tasks }) => {
      const { end } = await tasks.canceled();
      if (end.status !== 'Canceled') throw new NotCheckable('the task could not be canceled');
      return fieldIs(dataOf(end.detail), 'queue_info', 'absent');
    },
  },
  {
    statement: 'cancel does not stop a task that runs',
    needs: ['paid', 'slowApp'],
    check: async ({ tasks }) => {
      const { canceled, running } = await tasks.interrupted();
      if (canceled.before !== 'Running') throw new NotCheckable(`the task was ${canceled.before}`);
      return holdsIf(running.status === 'Running', `it became ${running.status}`);
    },
  },
  {
    statement: 'interrupt forces a Running task to stop',
    needs: ['paid', 'slowApp'],
    check: async ({ tasks }) => {
      const { later, answer, end } = await tasks.interrupted();
      if (later.status !== 'Running') throw new NotCheckable(`the task was ${later.status}`);
      return allHold([
        holdsIf(answer.status < 300, describe(answer)),
        holdsIf(isTerminal(end.status) && end.status !== 'Success', `it went on, and is ${end.status}`),
      ]);
    },
    checkThroughClient: async ({ journeys }) => {
      const { before, end } = await journeys.interrupted();
      if (before !== 'Running') throw new NotCheckable(`the task was ${before ?? ''}`);
      return holdsIf(isTerminal(end ?? '') && end !== 'Success', `it ended ${end ?? ''}`);
    },
  },
  {
    statement: 'interrupt does not stop a task that is queued',
    needs: ['paid', 'slowApp'],
    check: async ({ tasks }) => {
      const { whileQueued } = await tasks.interrupted();
      if (whileQueued.before !== 'Queuing') throw new NotCheckable(`the task was ${whileQueued.before}`);
      return holdsIf(!isTerminal(whileQueued.after), `it became ${whileQueued.after}`);
    },
  },
  {
    statement: 'cancel and interrupt change nothing of a task that has ended',
    check: async ({ tasks }) => {
      const { interrupt, cancel } = await tasks.stoppedAfterEnd();
      return allHold([
        holdsIf(interrupt.after === interrupt.before, `interrupt made ${interrupt.before} ${interrupt.after}`),
        holdsIf(cancel.after === cancel.before, `cancel made ${cancel.before} ${cancel.after}`),
      ]);
    },
  },
);

function firstState(states: readonly string[]): ReturnType<typeof holdsIf> {
  const first = states[0] ?? '';
  if (['Preparing', 'Running'].includes(first)) throw new NotCheckable(`it was ${first} already at the first poll`);
  return holdsIf(first === 'Queuing', `the first state seen is ${quote(first)}`);
}

function inOrder(states: readonly string[]): ReturnType<typeof holdsIf> {
  const ranks = states.map((state) => STATES.indexOf(state));
  const isInOrder = ranks.every((rank, index) => rank >= 0 && rank >= (ranks[index - 1] ?? 0));
  return holdsIf(isInOrder && states.at(-1) === 'Success', `it was ${[...new Set(states)].join(', ')}`);
}
