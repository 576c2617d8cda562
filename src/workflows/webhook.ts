import {
  ActivityFailure,
  ApplicationFailure,
  isCancellation,
  metricMeter,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow';
import { failureTypes } from '../contract/failure-types';
import { count, metrics } from '../contract/metrics';
import { type WebhookDelivery, type WebhookInput, webhookInputProblems } from '../contract/webhook';
import { markdownText } from '../core/text';
import { formatMoment } from '../core/time';
import { webhookActivities } from './activity-proxies';
import { failureMessage, requireNoProblems, taskFailure } from './failures';
import { autoUpgrade, readStartArgument } from './run-info';

export async function webhook(argument: WebhookInput): Promise<WebhookDelivery> {
  const { input, problems } = readStartArgument(argument);
  requireNoProblems([...problems, ...webhookInputProblems(input, workflowInfo().parent?.workflowId)]);
  const delivery = input as WebhookInput;
  const { id, webhook: name } = delivery;
  show(delivery, '### Being delivered\ntried again for three days; the last failure is under Pending Activities');
  try {
    const delivered = await webhookActivities(name).sendWebhook(delivery);
    const { deliveredAt, httpStatus, attempt } = delivered;
    show(delivery, `### Delivered\n${formatMoment(deliveredAt)}, HTTP ${httpStatus}, attempt ${attempt}`);
    return delivered;
  } catch (error) {
    if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
    const isUnknown = error.cause instanceof ApplicationFailure && error.cause.type === failureTypes.WebhookUnknown;
    // Clients choose the names; only a configured one becomes a label.
    count(metricMeter, metrics.webhooks, { webhook: isUnknown ? 'unknown' : name, outcome: 'given_up' });
    const words = failureMessage(error);
    show(delivery, `### Not delivered\n${markdownText(words)}. To send it again, reset this workflow.`);
    const type = isUnknown ? 'WebhookUnknown' : 'WebhookUndelivered';
    throw taskFailure(type, `Not delivered: ${words}`, { id, webhook: name });
  }
}

// An absent receiver must not keep an old version of the workers.
autoUpgrade(webhook);

function show({ webhook, id, event }: WebhookInput, state: string): void {
  setCurrentDetails(
    [
      state,
      '',
      `- **Webhook:** ${markdownText(webhook)}`,
      `- **Tells:** ${markdownText(`${event.type} of ${event.data.workflowId}`)}`,
      `- **webhook-id:** ${markdownText(id)}`,
    ].join('\n'),
  );
}
