import type { TemporalAccess } from './temporal-access';

/** A workflow's page in Temporal's Web UI; null when its address is not configured. */
export function workflowUrl({ client, webUiUrl }: TemporalAccess, workflowId: string): string | null {
  if (webUiUrl === null) return null;
  const { namespace } = client.options;
  return `${webUiUrl}/namespaces/${encodeURIComponent(namespace)}/workflows/${encodeURIComponent(workflowId)}`;
}
