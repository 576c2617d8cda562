import { searchAttributes } from '../../../src/contract/search-attributes';
import { attend, type Attention } from '../soak/attend';
import type { FaultStack } from '../fault-stack';

/** What a person does who looks for rows that wait for one, and reads what they ask for; each is told as it is done. */
export async function attendRows(
  stack: FaultStack,
  batchId: string,
  tell: (attention: Attention, workflowId: string) => void = () => undefined,
): Promise<void> {
  const { client, longhaul } = stack.parts;
  const waiting = [`${searchAttributes.batch.name} = "${batchId}"`, 'ExecutionStatus = "Running"'];
  const states = `${searchAttributes.status.name} IN ("CreateUncertain", "ArchiveIncomplete")`;
  for await (const { workflowId } of client.workflow.list({ query: [...waiting, states].join(' AND ') })) {
    const handle = longhaul.task(workflowId);
    const view = await handle.status();
    // After the status: a create that the service takes meanwhile is in its list.
    const requestId = acceptedCreates(stack).get(workflowId)?.at(-1);
    const attention = await attend({ handle, requestId }, view);
    if (attention !== 'nothing') tell(attention, workflowId);
  }
}

/** The request ids of the creates of each workflow that the service accepted, whether or not anybody was told. */
export function acceptedCreates({ parts }: FaultStack): Map<string, string[]> {
  const accepted = new Map<string, string[]>();
  for (const { correlation = '', requestId } of parts.service.ledger.entries({ endpoint: 'create' })) {
    const [workflowId = ''] = correlation.split('/');
    if (requestId !== undefined) accepted.set(workflowId, [...(accepted.get(workflowId) ?? []), requestId]);
  }
  return accepted;
}
