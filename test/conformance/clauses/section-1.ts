import { costOf, dataOf, describe, isAccepted, isSuccess, textOf } from '../answers';
import { inSection, type Clause, type Statement } from '../clause';
import { isTerminal } from '../follow-task';
import type { FileKind } from '../sample-files';
import { allHold, doesNotHold, holdsIf } from '../verdict';

const kinds: readonly FileKind[] = ['image', 'audio', 'video'];

/** Section 1: what the service does. */
export const section1: readonly Clause[] = inSection(
  '1',
  {
    statement: 'a task of an app, named by an integer web_app_id, takes input values and brings output files',
    check: async ({ tasks }) => {
      const { end } = await tasks.followed();
      const files = await tasks.downloads();
      return allHold([
        holdsIf(end.status === 'Success', `the task ended: ${describe(end.detail)}`),
        holdsIf(files.length > 0, 'there is no output'),
        ...files.map(({ status, bytes }) => holdsIf(status === 200 && bytes.length > 0, `an output is HTTP ${status}`)),
      ]);
    },
    checkThroughClient: async ({ journeys }) => {
      const { end } = await journeys.followed();
      return holdsIf(end.outputs.outputs.length > 0, `the task ended ${end.detail.status} without an output`);
    },
  },
  {
    statement: 'without a special header the connection stays open until the task ends, and brings its result',
    check: async ({ tasks }) => {
      const { end } = await tasks.followed();
      const ranMs = costOf(end.detail, 'running_cost_time');
      const answer = await tasks.synchronous();
      return allHold([
        holdsIf(answer.status >= 200 && answer.status < 300 && answer.status !== 202, describe(answer)),
        holdsIf(answer.tookMs >= ranMs / 2, `answered after ${answer.tookMs} ms, but the task runs for ${ranMs} ms`),
        holdsIf(/https?:\/\//.test(answer.text), `no link to a result: ${describe(answer)}`),
      ]);
    },
    checkThroughClient: async ({ journeys }) => {
      const { httpStatus, body } = await journeys.synchronous();
      return holdsIf(httpStatus !== 202 && /https?:\/\//.test(body), `HTTP ${httpStatus} without a link to a result`);
    },
  },
  {
    statement: 'with X-Svc-Task-Async: enable the answer is an immediate HTTP 202 with a requestId',
    check: async ({ tasks }) => {
      const created = await tasks.created();
      if (created.status !== 202 || !isAccepted(created)) return doesNotHold(describe(created));
      const first = (await tasks.followed()).polls[0]?.status ?? '';
      return holdsIf(!isTerminal(first), `the task was ${first} when the answer came`);
    },
    checkThroughClient: async ({ journeys }) => {
      const { outcome } = await journeys.created();
      const { polls } = await journeys.followed();
      const first = polls[0]?.detail.status ?? '';
      return holdsIf(outcome === 'accepted' && !isTerminal(first), `${outcome}, first seen ${first}`);
    },
  },
  {
    statement:
      'with X-Svc-Task-WebHook-Url the answer is an immediate HTTP 202 with a requestId, and the result is POSTed later',
    needs: ['paid', 'callbackReceiver'],
    check: async ({ tasks }) => {
      const { created } = await tasks.createdWithCallback();
      if (created.status !== 202 || !isAccepted(created)) return doesNotHold(describe(created));
      const { polls, inbox } = await tasks.calledBack();
      return allHold([
        holdsIf(!isTerminal(polls[0]?.status ?? ''), 'the task had ended when the answer came'),
        holdsIf(inbox.received.length > 0, 'no callback came'),
      ]);
    },
    checkThroughClient: async ({ journeys }) => {
      const { polls, inbox } = await journeys.calledBack();
      const first = polls[0]?.detail.status ?? '';
      return holdsIf(
        !isTerminal(first) && inbox.received.length > 0,
        `first seen ${first}, ${inbox.received.length} callbacks`,
      );
    },
  },
  {
    statement: 'with both headers the callback mode applies and the async header is ignored',
    needs: ['paid', 'callbackReceiver'],
    check: async ({ tasks }) => {
      const { created } = await tasks.createdWithBoth();
      if (created.status !== 202 || !isAccepted(created)) return doesNotHold(describe(created));
      const { inbox } = await tasks.calledBackAgain();
      return holdsIf(inbox.received.length > 0, 'no callback came');
    },
  },
  ...kinds.map((kind): Statement => ({
    statement: `${kind === 'image' ? 'an image' : kind === 'audio' ? 'audio' : 'a video'} can be uploaded: credentials, upload to the storage, commit`,
    needs: ['upload'],
    check: async ({ uploads }) => {
      const { put, commit } = await uploads.uploaded(kind);
      return holdsIf(put === 'stored' && isSuccess(commit), `upload ${put}, commit ${describe(commit)}`);
    },
    checkThroughClient: async ({ journeys }) => {
      const { put, resource } = await journeys.uploaded(kind);
      return holdsIf(put === 'stored' && resource.url !== '', `upload ${put}`);
    },
  })),
  {
    statement: 'a committed file can be loaded by a loader node of a workflow',
    needs: ['paid', 'upload', 'inputFile'],
    check: async ({ tasks }) => {
      const { end } = await tasks.followed();
      return holdsIf(
        end.status === 'Success',
        `the task ended ${end.status}: ${textOf(dataOf(end.detail)['error_message'])}`,
      );
    },
    checkThroughClient: async ({ journeys }) => {
      const { end } = await journeys.followed();
      return holdsIf(end.detail.status === 'Success', `the task ended ${end.detail.status}`);
    },
  },
  {
    statement: 'a user-metadata query exists',
    needs: [],
    check: async ({ http }) => {
      const answer = await http.ask('metadata');
      return holdsIf(answer.status === 200, describe(answer));
    },
    checkThroughClient: async ({ client }) => {
      const metadata = await client.getUserMetadata();
      return holdsIf(metadata !== undefined, 'nothing came');
    },
  },
);
