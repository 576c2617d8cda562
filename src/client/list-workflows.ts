import type { Client } from '@temporalio/client';
import { type WorkflowInfo, workflowInfo } from './workflow-info';

/**
 * Lists workflows, a page at a time, in Temporal's own order: those that run, the latest start first, then those that are
 * over, the latest end first. Throws errors of gRPC.
 */
export async function* listWorkflows(client: Client, query: string, pageSize: number): AsyncGenerator<WorkflowInfo> {
  for await (const page of listPages(client, query, pageSize)) yield* page;
}

/** The same, page by page. */
export async function* listPages(
  { workflowService, options }: Client,
  query: string,
  pageSize: number,
): AsyncGenerator<readonly WorkflowInfo[]> {
  let nextPageToken: Uint8Array = new Uint8Array();
  do {
    const page = await workflowService.listWorkflowExecutions({
      namespace: options.namespace,
      query,
      pageSize,
      nextPageToken,
    });
    yield page.executions.map((raw) => workflowInfo(raw));
    ({ nextPageToken } = page);
  } while (nextPageToken.length > 0);
}
