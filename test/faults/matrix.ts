/** The steps of a task that a fault can hit. */
export const steps = ['upload', 'create', 'watch', 'watch by activity', 'stop', 'archive'] as const;

/** One of {@link steps}. */
export type Step = (typeof steps)[number];

/** How a task must end, and who has to do something for it; the end of the sentence that begins with the fault. */
export const endings = {
  succeeds: 'the task succeeds all the same',
  stopped: 'the task is stopped, and the stop confirmed',
  adopted: 'the task is visibly CreateUncertain, and succeeds once a person adopts it',
  recreated: 'the task is visibly CreateUncertain, and succeeds once a person has it created again',
  rearchived: 'the task is visibly ArchiveIncomplete, and succeeds once a person has it archived again',
  startedAgain: 'the task succeeds once it is started again under its key',
  startedAgainUncertain:
    'the task succeeds once it is started again under its key, and adopted if it is CreateUncertain',
  stoppedAndKnown: 'the task is known to be canceled once it is started again under its key',
} as const;

/** One of {@link endings}. */
export type Ending = keyof typeof endings;

/** Why a cell of the matrix has no test. */
interface Senseless {
  readonly because: string;
}

/** One fault at every step. */
type Row = Readonly<Record<Step, Ending | Senseless>>;

const no = (because: string): Senseless => ({ because });
const noFile = no('no byte of a file passes then');
const oneCreate = no('only a create is paid, so only it asks for a callback');
const writesNothing = no('it writes nothing then');

/** Nobody has to do anything. */
const unharmed = {
  upload: 'succeeds',
  create: 'succeeds',
  watch: 'succeeds',
  'watch by activity': 'succeeds',
  stop: 'stopped',
  archive: 'succeeds',
} as const satisfies Row;

/** A row with these cells, and of the others the reason why not. */
function only<Cells extends Partial<Row>>(because: Senseless, cells: Cells): Row & Cells {
  const none = Object.fromEntries(steps.map((step) => [step, because])) as Record<Step, Senseless>;
  return { ...none, ...cells };
}

/** What happens to processes and to what they stand on, in the middle of a step. */
export const processFaults = {
  'the worker is killed': unharmed,
  'the worker is told to stop': unharmed,
  'Temporal is killed and started again': unharmed,
  'the callback receiver is killed': unharmed,
  'the service is down for a while': unharmed,
  'the archive cannot be written for a while': only(writesNothing, {
    upload: 'succeeds',
    create: 'succeeds',
    archive: 'succeeds',
  }),
  'an operator terminates the workflow': {
    upload: 'startedAgain',
    create: 'startedAgainUncertain',
    watch: 'startedAgain',
    'watch by activity': 'startedAgain',
    stop: 'stoppedAndKnown',
    archive: 'startedAgain',
  },
  'an operator resets the workflow to its beginning': unharmed,
} as const satisfies Record<string, Row>;

/** What happens to the requests of a step, and to their answers. */
export const requestFaults = {
  'connections are reset before the request arrives': { ...unharmed, create: 'recreated' },
  'connections are reset after the request was sent': unharmed,
  'replies are lost': unharmed,
  'replies and callbacks are lost': only(oneCreate, { create: 'adopted' }),
  'the service does what it is asked and answers 500': unharmed,
  'the service refuses with 429': unharmed,
  'the service answers rubbish': unharmed,
  'the storage answers 503': only(noFile, { upload: 'succeeds', archive: 'succeeds' }),
  'the storage answers 503 for longer than retries last': only(noFile, {
    upload: no('retries of an upload last until the task’s total deadline'),
    archive: 'rearchived',
  }),
  'the credentials have expired': only(noFile, { upload: 'succeeds', archive: no('links need no credentials') }),
  'the links have expired': only(noFile, { upload: no('an upload follows no link'), archive: 'succeeds' }),
  'the download breaks off': only(noFile, {
    upload: no('an upload that breaks off is reset, a row of its own'),
    archive: 'succeeds',
  }),
} as const satisfies Record<string, Row>;

/** A cell that has a test. */
export interface Cell {
  readonly step: Step;
  readonly ending: Ending;
}

/** The cells of a row that make sense. */
export function cellsOf(row: Row): Cell[] {
  return steps.flatMap((step) => {
    const ending = row[step];
    return typeof ending === 'string' ? [{ step, ending }] : [];
  });
}

/** A cell as a sentence: the name of its test. */
export function nameOf(fault: string, step: Step, ending: Ending): string {
  return `when ${fault} during the ${step}, ${endings[ending]}`;
}
