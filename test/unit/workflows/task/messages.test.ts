import { awaitDecision, receiveCallback, requireAwaited, takeDecision } from '../../../../src/workflows/task/task-run';
import { taskRun } from '../../../support/task-run';

describe('a task that waits for a decision', () => {
  it('takes one that it waits for, once', () => {
    const run = taskRun();
    awaitDecision(run, ['adopt', 'abandon']);
    takeDecision(run, { kind: 'adopt', requestId: 'r-1' });
    expect(run.decision).toEqual({ kind: 'adopt', requestId: 'r-1' });
  });

  it('refuses what it does not wait for', () => {
    const run = taskRun();
    const recreate = (): void => {
      takeDecision(run, { kind: 'recreate' });
    };
    expect(recreate).toThrow('"recreate" does not apply: The task waits for no decision now.');
    awaitDecision(run, ['rearchive', 'abandon']);
    expect(recreate).toThrow('"recreate" does not apply: It waits for rearchive, abandon.');
    expect(run.decision).toBeUndefined();
  });

  it('refuses a second decision, so that nobody is told something that will not happen', () => {
    const run = taskRun();
    awaitDecision(run, ['adopt', 'abandon']);
    takeDecision(run, { kind: 'abandon' });
    expect(() => {
      requireAwaited(run, 'adopt');
    }).toThrow('"adopt" does not apply: A decision was taken already.');
    expect(run.decision).toEqual({ kind: 'abandon' });
  });

  it('forgets the decision before when it waits again', () => {
    const run = taskRun();
    awaitDecision(run, ['rearchive']);
    takeDecision(run, { kind: 'rearchive' });
    awaitDecision(run, ['rearchive']);
    expect(run.decision).toBeUndefined();
  });
});

describe('the request ids that callbacks bring before there is one', () => {
  it('are kept once each, in the order of their arrival', () => {
    const run = taskRun();
    for (const id of ['r-1', 'r-2', 'r-1']) receiveCallback(run, id, 1);
    expect(run.candidatesArrived).toBe(2);
    expect(run.state.candidates.map(({ requestId }) => requestId)).toEqual(['r-1', 'r-2']);
  });

  it('are the newest fifty: a flood of false ones neither fills the state nor keeps the last out', () => {
    const run = taskRun();
    for (let index = 0; index < 1_000; index += 1) receiveCallback(run, `r-${index}`, 1);
    expect(run.state.candidates).toHaveLength(50);
    expect(run.state.candidates.at(-1)).toMatchObject({ requestId: 'r-999' });
  });
});
