import { dataOf, fieldsOf, isSuccess, itemsOf, parseTimestamp, quote, textOf } from '../answers';
import type { OpenPoint } from '../clause';
import { createBody } from '../create-body';
import type { Answer } from '../plain-http';
import { sampleFile } from '../sample-files';

const DAY_MS = 24 * 60 * 60_000;
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

/** What the specification leaves open about tasks. */
const ofTasks: readonly OpenPoint[] = [
  {
    section: '1',
    question: 'may a task in callback mode be polled as well',
    decision: 'yes: detail needs nothing but the requestId',
    needs: ['paid', 'callbackReceiver'],
    observe: async ({ tasks }) => {
      const { polls } = await tasks.calledBack();
      return polls.every(({ detail }) => isSuccess(detail)) ? 'yes' : 'no';
    },
    decided: 'yes',
  },
  {
    section: '1',
    question: 'which of its fields does a loader node take of an input resource',
    decision: 'its url by default; its name or id on request',
  },
  {
    section: '2.2',
    question: 'the meaning of suppress_preview_output beyond its name',
    decision: 'it leaves out what preview nodes make',
  },
  {
    section: '2.3',
    question: 'what expired_at is the end of, and how long that takes',
    decision: 'of the record and the files alike, 15 days after the end of the task',
    observe: async ({ tasks }) => {
      const { ended_at, expired_at } = dataOf((await tasks.followed()).end.detail);
      return `${(Number(parseTimestamp(expired_at)) - Number(parseTimestamp(ended_at))) / DAY_MS} days`;
    },
    decided: '15 days',
  },
  {
    section: '2.3',
    question: 'the meaning of queue_count, with its values 0 and -1',
    decision: 'how many tasks are ahead; -1 when that is not known',
  },
  {
    section: '2.3',
    question: 'whether inference_cost_time stands beside cost_times, inside them, or both',
    decision: 'both: whole seconds beside, milliseconds inside',
    observe: async ({ tasks }) => {
      const detail = dataOf((await tasks.followed()).end.detail);
      const isInside = 'inference_cost_time' in fieldsOf(detail['cost_times']);
      return 'inference_cost_time' in detail ? (isInside ? 'both' : 'beside') : isInside ? 'inside' : 'neither';
    },
    decided: 'both',
  },
  {
    section: '2.4',
    question: 'whether the detail of a failure is in error_msg or error_message',
    decision: 'both, with the same text; a reader takes either',
    needs: ['paid', 'failingApp'],
    observe: async ({ tasks }) => {
      const items = itemsOf(dataOf((await tasks.failed()).end.outputs)['outputs']);
      return ['error_msg', 'error_message'].filter((name) => items.some((item) => name in item)).join(', ');
    },
    decided: 'error_msg, error_message',
  },
  {
    section: '3',
    question: 'the state that an interrupt leads to',
    decision: 'Canceled, at once; whoever interrupts polls until any terminal state',
    needs: ['paid', 'slowApp'],
    observe: async ({ tasks }) => (await tasks.interrupted()).end.status,
    decided: 'Canceled',
  },
  {
    section: '3',
    question: 'the conditions of moves into Failed',
    decision: 'a node of the app throws; outputs kept until then come before the item with the error',
  },
  {
    section: '3',
    question: 'cancel and interrupt while Preparing',
    decision: 'refused, both: wait for Running, then interrupt',
  },
  {
    section: '4.1',
    question: 'the body of the answer in synchronous mode',
    decision: 'an envelope whose data is what a callback would tell',
    observe: async ({ tasks }) => {
      const answer = await tasks.synchronous();
      return isSuccess(answer) ? `an envelope, data with ${Object.keys(dataOf(answer)).sort().join(', ')}` : 'another';
    },
    decided:
      'an envelope, data with cost_times, created_at, ended_at, executed_at, expired_at, outputs, request_id, running_at, status, type, updated_at',
  },
  {
    section: '4.1',
    question: 'X-Svc-Task-Async with another value than enable',
    decision: 'no asynchronous header: the create is synchronous',
    observe: async ({ target, http, uploads }) => {
      const body = await createBody(target, uploads);
      return `HTTP ${(await http.ask('create', { body, headers: { 'X-Svc-Task-Async': 'disable' } })).status}`;
    },
    decided: 'HTTP 200',
  },
  {
    section: '4.4',
    question: 'the body of the answer to cancel',
    decision: 'an envelope with data null',
    observe: async ({ tasks }) => (await tasks.canceled()).first.answer.text,
    decided: '{"code":20000,"message":"Ok","status":true,"data":null}',
  },
  {
    section: '4.5',
    question: 'the body of the answer to interrupt',
    decision: 'an envelope with data null',
    needs: ['paid', 'slowApp'],
    observe: async ({ tasks }) => (await tasks.interrupted()).answer.text,
    decided: '{"code":20000,"message":"Ok","status":true,"data":null}',
  },
  { section: '6', question: 'whether a callback tells of a canceled task', decision: 'no; polling decides' },
];

/** What the specification leaves open about files and the user. */
const ofFiles: readonly OpenPoint[] = [
  {
    section: '4.6',
    question: 'another file_type than inputs',
    needs: [],
    decision: 'refused as a bad parameter',
    observe: async ({ http }) =>
      refusal(await http.ask('token', { query: { file_name: 'a.png', file_type: 'others' } })),
    decided: 'HTTP 400, code 20015',
  },
  {
    section: '4.7',
    question: 'a commit that is repeated',
    decision: 'answers with the same resource; a caller looks in the list before it repeats one',
    needs: ['upload'],
    observe: async ({ uploads }) => {
      const { file, objectKey, resource } = await uploads.uploaded('image');
      const again = await uploads.commit(file.name, objectKey);
      return dataOf(again)['id'] === resource['id'] ? 'the same resource' : refusal(again);
    },
    decided: 'the same resource',
  },
  {
    section: '4.7',
    question: 'a commit before the upload',
    decision: 'refused: there is no object',
    needs: ['upload'],
    observe: async ({ uploads }) => {
      const { name } = sampleFile('image');
      const token = await uploads.askToken(name);
      return refusal(await uploads.commit(name, textOf(fieldsOf(dataOf(token)['file'])['object_key'])));
    },
    decided: 'HTTP 404, code 20404',
  },
  {
    section: '4.9',
    question: 'the fields of the user metadata',
    needs: [],
    decision: 'id and name; a client takes them as they come',
    observe: async ({ http }) => Object.keys(dataOf(await http.ask('metadata'))).join(', '),
    decided: 'id, name',
  },
  {
    section: '5',
    question: 'the lifetime of the temporary credentials',
    decision: '15 minutes; a client asks for new ones at each attempt',
  },
  {
    section: '8',
    question: 'the default page_size',
    needs: [],
    decision: '20',
    observe: async ({ http }) => quote(dataOf(await http.ask('list'))['page_size']),
    decided: '20',
  },
  {
    section: '8',
    question: 'the maximum page_size',
    needs: [],
    decision: '100; more is refused',
    observe: async ({ http }) => refusal(await http.ask('list', { query: { page_size: 101 } })),
    decided: 'HTTP 400, code 20015',
  },
  {
    section: '8',
    question: 'limits of file type',
    needs: [],
    decision: 'extensions of images, audio and video; others are refused at the token',
    observe: async ({ http }) =>
      refusal(await http.ask('token', { query: { file_name: 'a.txt', file_type: 'inputs' } })),
    decided: 'HTTP 400, code 20015',
  },
  { section: '8', question: 'limits of file size', decision: '5 GiB; the commit of a larger file is refused' },
  { section: '8', question: 'the validity of result links', decision: '1 hour; each query brings fresh ones' },
  { section: '8', question: 'rate limits', decision: 'none by default; HTTP 429, code 50600, with Retry-After' },
];

/** What the specification leaves open about refusals and versions. */
const ofRefusals: readonly OpenPoint[] = [
  {
    section: '7',
    question: 'code and status of a request without a key',
    needs: [],
    decision: 'HTTP 401, code 20052',
    observe: async ({ http }) => refusal(await http.ask('metadata', { authorization: null })),
    decided: 'HTTP 401, code 20052',
  },
  {
    section: '7',
    question: 'code and status of a request with a bad key',
    needs: [],
    decision: 'HTTP 401, code 20093',
    observe: async ({ http }) => refusal(await http.ask('metadata', { authorization: 'Bearer not-a-key-of-anybody' })),
    decided: 'HTTP 401, code 20093',
  },
  {
    section: '7',
    question: 'code and status of bad parameters',
    needs: [],
    decision: 'HTTP 400, code 20015',
    observe: async ({ http }) => refusal(await http.ask('detail')),
    decided: 'HTTP 400, code 20015',
  },
  {
    section: '7',
    question: 'code and status of an unknown requestId',
    needs: [],
    decision: 'HTTP 404, code 30009; soon after a create a client takes it for "not visible yet"',
    observe: async ({ http }) => refusal(await http.ask('detail', { query: { requestId: UNKNOWN_ID } })),
    decided: 'HTTP 404, code 30009',
  },
  {
    section: '7',
    question: 'code and status of a cancel of a task that is not queued',
    decision: 'HTTP 409, code 30010',
    observe: async ({ tasks }) => refusal((await tasks.stoppedAfterEnd()).cancel.answer),
    decided: 'HTTP 409, code 30010',
  },
  {
    section: '7',
    question: 'code and status of an interrupt of a task that is not running',
    decision: 'HTTP 409, code 30011',
    observe: async ({ tasks }) => refusal((await tasks.stoppedAfterEnd()).interrupt.answer),
    decided: 'HTTP 409, code 30011',
  },
  {
    section: '7',
    question: 'the list of error_type values',
    decision: 'NOT_ERROR and EXECUTION_ERROR; a client takes any other for an error',
    needs: ['paid', 'failingApp'],
    observe: async ({ tasks }) => {
      const items = itemsOf(dataOf((await tasks.failed()).end.outputs)['outputs']);
      return items.map(({ error_type }) => textOf(error_type)).join(', ');
    },
    decided: 'EXECUTION_ERROR',
  },
  { section: '9', question: 'version negotiation, deprecation and compatibility', decision: 'none' },
];

/** Everything that the specification leaves open and that makes a difference to a caller. */
export const openPoints: readonly OpenPoint[] = [...ofTasks, ...ofFiles, ...ofRefusals].sort((one, other) =>
  one.section.localeCompare(other.section, 'en', { numeric: true }),
);

function refusal({ status, json }: Answer): string {
  return `HTTP ${status}, code ${quote(fieldsOf(json)['code'])}`;
}
