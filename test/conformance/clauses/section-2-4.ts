import { costOf, dataOf, describe, fieldIs, itemsOf, quote, textOf, type Fields } from '../answers';
import { inSection, type Clause } from '../clause';
import type { ServiceContext } from '../service-context';
import { allHold, doesNotHold, holdsIf, type Verdict } from '../verdict';

/** Section 2.4: the output item, and 2.5: the cost times. */
export const section24: readonly Clause[] = inSection(
  '2.4',
  {
    statement: 'object_url is a link to a result file that can be downloaded',
    check: async (service) => {
      const files = await service.tasks.downloads();
      return allHold([
        await onEveryOutput((item) => fieldIs(item, 'object_url', 'string'))(service),
        ...files.map(({ status, bytes }) =>
          holdsIf(status === 200 && bytes.length > 0, `the link answers HTTP ${status}`),
        ),
      ]);
    },
    checkThroughClient: async ({ journeys }) => {
      const { outputs } = (await journeys.followed()).end.outputs;
      return allHold(outputs.map(({ objectUrl }) => holdsIf(URL.canParse(objectUrl ?? ''), 'a url that is none')));
    },
  },
  {
    statement: 'object_url is on {storage_url}, the host that uploaded inputs are served from as well',
    needs: ['paid', 'upload'],
    check: async ({ tasks, uploads }) => {
      const { resource } = await uploads.uploaded('image');
      const { end } = await tasks.followed();
      const [input, ...outputs] = [
        resource['url'],
        ...itemsOf(dataOf(end.outputs)['outputs']).map(({ object_url }) => object_url),
      ].map(originOf);
      return allHold(
        outputs.map((output) => holdsIf(output === input, `outputs are on ${output}, inputs on ${input ?? ''}`)),
      );
    },
  },
  {
    statement: 'object_url is time-limited',
    needs: ['paid', 'linkLifetime'],
    check: async ({ tasks }) => {
      const { status } = await tasks.downloadTooLate();
      return holdsIf(status >= 400, `it still answers HTTP ${status}`);
    },
  },
  {
    statement: 'output_ext is the extension with its leading dot',
    check: onEveryOutput(({ output_ext }) =>
      holdsIf(/^\.[A-Za-z0-9]+$/.test(textOf(output_ext)), `output_ext is ${quote(output_ext)}`),
    ),
    checkThroughClient: async ({ journeys }) => {
      const { outputs } = (await journeys.followed()).end.outputs;
      return allHold(outputs.map(({ ext }) => holdsIf(/^\.\w+$/.test(ext), `ext is ${quote(ext)}`)));
    },
  },
  {
    statement: 'cost_time is an integer of milliseconds from the start of the task to the output',
    check: async (service) => {
      const { end } = await service.tasks.followed();
      const totalMs = costOf(end.detail, 'total_cost_time');
      return onEveryOutput((item) => {
        const costMs = Number(item['cost_time']);
        return allHold([
          fieldIs(item, 'cost_time', 'integer'),
          holdsIf(!(costMs < 0 || costMs > totalMs), `cost_time is ${costMs}, total_cost_time ${totalMs}`),
        ]);
      })(service);
    },
    checkThroughClient: async ({ journeys }) => {
      const { outputs } = (await journeys.followed()).end.outputs;
      return allHold(outputs.map(({ costTimeMs }) => holdsIf(Number.isInteger(costTimeMs), quote(costTimeMs))));
    },
  },
  {
    statement: 'audit_status of the outputs endpoint is an integer of its table: 1 to 4',
    check: onEveryOutput(({ audit_status }) =>
      holdsIf(
        [1, 2, 3, 4].includes(Number(audit_status)) && typeof audit_status === 'number',
        `audit_status is ${quote(audit_status)}`,
      ),
    ),
    checkThroughClient: async ({ journeys }) => {
      const { outputs } = (await journeys.followed()).end.outputs;
      return allHold(outputs.map(({ auditStatus }) => holdsIf(Number.isInteger(auditStatus), quote(auditStatus))));
    },
  },
  {
    statement: 'audit_status of a callback is an integer of its table: 0 to 3',
    needs: ['paid', 'callbackReceiver'],
    check: async ({ tasks }) => {
      const items = itemsOf((await tasks.calledBack()).inbox.received[0]?.body['outputs']);
      if (items.length === 0) return doesNotHold('there is no callback with outputs');
      return allHold(
        items.map(({ audit_status }) =>
          holdsIf(
            [0, 1, 2, 3].includes(Number(audit_status)) && typeof audit_status === 'number',
            `audit_status is ${quote(audit_status)}`,
          ),
        ),
      );
    },
  },
  {
    statement: 'error_type is NOT_ERROR on success',
    check: onEveryOutput(({ error_type }) => holdsIf(error_type === 'NOT_ERROR', `error_type is ${quote(error_type)}`)),
    checkThroughClient: async ({ journeys }) => {
      const { outputs } = (await journeys.followed()).end.outputs;
      return allHold(outputs.map(({ errorType }) => holdsIf(errorType === 'NOT_ERROR', quote(errorType))));
    },
  },
  {
    statement: 'error_type of a failed task is another code',
    needs: ['paid', 'failingApp'],
    check: async ({ tasks }) => {
      const { end } = await tasks.failed();
      return holdsIf(
        failedItems(end.outputs).some((item) => textOf(item['error_type']) !== ''),
        describe(end.outputs),
      );
    },
    checkThroughClient: async ({ journeys }) => {
      const { outputs } = (await journeys.failed()).end.outputs;
      return holdsIf(
        outputs.some(({ errorType }) => errorType !== 'NOT_ERROR'),
        'every item is NOT_ERROR',
      );
    },
  },
  {
    statement: 'the failure detail is in error_msg or error_message',
    needs: ['paid', 'failingApp'],
    check: async ({ tasks }) => {
      const { end } = await tasks.failed();
      const messages = failedItems(end.outputs).map(
        ({ error_msg, error_message }) => textOf(error_msg) || textOf(error_message),
      );
      return holdsIf(
        messages.some((message) => message !== ''),
        describe(end.outputs),
      );
    },
    checkThroughClient: async ({ journeys }) => {
      const { outputs } = (await journeys.failed()).end.outputs;
      return holdsIf(
        outputs.some(({ errorMessage }) => errorMessage !== undefined),
        'no item has an errorMessage',
      );
    },
  },
);

function onEveryOutput(judge: (item: Fields) => Verdict): (service: ServiceContext) => Promise<Verdict> {
  return async ({ tasks }) => {
    const { end } = await tasks.followed();
    const items = itemsOf(dataOf(end.outputs)['outputs']);
    return items.length === 0 ? doesNotHold(`no outputs: ${describe(end.outputs)}`) : allHold(items.map(judge));
  };
}

function failedItems(outputs: Parameters<typeof dataOf>[0]): readonly Fields[] {
  return itemsOf(dataOf(outputs)['outputs']).filter(({ error_type }) => error_type !== 'NOT_ERROR');
}

function originOf(link: unknown): string {
  return URL.canParse(textOf(link)) ? new URL(textOf(link)).origin : 'nowhere';
}
