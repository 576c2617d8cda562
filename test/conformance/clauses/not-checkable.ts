import type { UncheckableStatement } from '../clause';

/** Statements that nobody can check from outside; most of them bind the caller. */
export const uncheckable: readonly UncheckableStatement[] = [
  {
    section: '2.4',
    statement: 'audit_status 1 to 4, or 0 to 3, stands for what the table says',
    why: 'nobody outside knows what a review came to; builders are to take the integer as it is',
  },
  {
    section: '2.5',
    statement: 'real_cpu_cost_time, real_gpu_cost_time and the like are actual times',
    why: 'only the service can measure them',
  },
  {
    section: '4.6',
    statement: 'an upload over an existing object fails',
    why: 'it is named as a typical failure, not promised; each token has a key of its own',
  },
  {
    section: '4.7',
    statement: 'commit is called only after the storage upload succeeded',
    why: 'it binds the caller; what happens otherwise is an open point',
  },
  {
    section: '5',
    statement: 'the upload credentials are used only for the upload step',
    why: 'it binds the caller; that they allow nothing else is checked under 4.6',
  },
  {
    section: '5',
    statement: 'the receiver of a callback compares the Authorization with its own token',
    why: 'it binds the receiver',
  },
  {
    section: '6',
    statement: 'the destination is reachable from the public internet, and https is recommended',
    why: 'it binds the caller',
  },
  {
    section: '6',
    statement: 'the receiver answers HTTP 200 after it has handled a callback',
    why: 'it binds the receiver',
  },
  {
    section: '6',
    statement: 'duplicate callbacks are possible',
    why: 'a possibility is true whether or not it is seen; repetition after a failure is checked',
  },
  {
    section: '8',
    statement: 'result links are consumed or stored soon after receipt',
    why: 'it binds the caller; that they are time-limited is checked under 2.4 and 2.7',
  },
];
