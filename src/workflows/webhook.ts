import {
  ActivityFailure,
  ApplicationFailure,
  isCancellation,
  metricMeter,
  proxyActivities,
  setCurrentDetails,
  setWorkflowOptions,
  workflowInfo,
} from '@temporalio/workflow';
import { failureTypes } from '../contract/failure-types';
import { count, metrics } from '../contract/metrics';
import { watchTaskQueue } from '../contract/task-queues';
import {
  type WebhookActivities,
  type WebhookDelivery,
  type WebhookInput,
  webhookInputProblems,
} from '../contract/webhook';
import { markdownText } from '../core/text';
import { formatMoment } from '../core/time';
import { failureMessage, taskFailure } from './failures';
import { readStartArgument } from './start-argument';

/** A receiver that is away for so long gets it by a reset; docs/guides/webhooks.md. */
const deliveryTimeout = '3 days';

/** One delivery, at least once. On the current version of the workers: an absent receiver must not keep an old one. */
export async function webhook(argument: WebhookInput): Promise<WebhookDelivery> {
  const { input, problems: argumentProblems } = readStartArgument(argument);
  const problems = [...argumentProblems, ...webhookInputProblems(input, workflowInfo().parent?.workflowId)];
  if (problems.length > 0) throw taskFailure('InputInvalid', problems.join('\n'), { problems });
  const delivery = input as WebhookInput;
  setCurrentDetails(webhookDetails(delivery, { state: 'waiting' }));
  const { sendWebhook } = proxyActivities<WebhookActivities>({
    summary: `Send it to the webhook ${delivery.webhook}`,
    // Long waits for a slow receiver must not take the slots of creates.
    taskQueue: watchTaskQueue(workflowInfo().taskQueue),
    startToCloseTimeout: '30 seconds',
    scheduleToCloseTimeout: deliveryTimeout,
    cancellationType: 'TRY_CANCEL',
    retry: { initialInterval: '5 seconds', backoffCoefficient: 2, maximumInterval: '1 hour' },
    // Behind every task.
    priority: { priorityKey: 5 },
  });
  try {
    const delivered = await sendWebhook(delivery);
    setCurrentDetails(webhookDetails(delivery, { state: 'delivered', ...delivered }));
    return delivered;
  } catch (error) {
    if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
    const { id, webhook } = delivery;
    const isUnknown = error.cause instanceof ApplicationFailure && error.cause.type === failureTypes.WebhookUnknown;
    const words = failureMessage(error);
    // Clients choose the names; only one that the worker has becomes a label.
    count(metricMeter, metrics.webhooks, { webhook: isUnknown ? 'unknown' : webhook, outcome: 'given_up' });
    setCurrentDetails(webhookDetails(delivery, { state: 'givenUp', words }));
    const type = isUnknown ? 'WebhookUnknown' : 'WebhookUndelivered';
    throw taskFailure(type, `Not delivered: ${words}`, { id, webhook });
  }
}

/** Temporal refuses the steps of a worker without a version that name a behavior. */
setWorkflowOptions(() => {
  const { deploymentName = '' } = workflowInfo().currentDeploymentVersion ?? {};
  return deploymentName === '' ? {} : { versioningBehavior: 'AUTO_UPGRADE' };
}, webhook);

type WebhookState =
  | { readonly state: 'waiting' }
  | ({ readonly state: 'delivered' } & WebhookDelivery)
  | { readonly state: 'givenUp'; readonly words: string };

/** The page of a webhook: what is sent to which receiver, and whether it has it. */
function webhookDetails({ webhook, id, event }: WebhookInput, delivery: WebhookState): string {
  const lines = [
    ['Webhook', webhook],
    ['Tells', `${event.type} of ${event.data.workflowId}`],
    ['webhook-id', id],
  ];
  return [
    ...deliveryLines(delivery),
    '',
    ...lines.map(([name = '', value = '']) => `- **${name}:** ${markdownText(value)}`),
  ].join('\n');
}

function deliveryLines(delivery: WebhookState): string[] {
  switch (delivery.state) {
    case 'waiting':
      return ['### Being delivered', 'tried again for three days; the last failure is under Pending Activities'];
    case 'delivered': {
      const { deliveredAt, httpStatus, attempt } = delivery;
      return ['### Delivered', `${formatMoment(deliveredAt)}, HTTP ${httpStatus}, attempt ${attempt}`];
    }
    case 'givenUp':
      return ['### Not delivered', `${markdownText(delivery.words)}. To send it again, reset this workflow.`];
  }
}
