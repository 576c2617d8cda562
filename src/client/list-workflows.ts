import type { Client } from '@temporalio/client';
import { type WorkflowInfo, workflowInfo } from './workflow-info';

type Page = Awaited<ReturnType<Client['workflowService']['listWorkflowExecutions']>>;

/**
 * Lists workflows, a page at a time, in Temporal's own order: those that run, the latest start first, then those that are
 * over, the latest end first. Throws errors of gRPC.
 *
 * @param pageTimeoutMs - how long each page may take, retries included. @default until the deadline that the caller set
 */
export async function* listWorkflows(
  client: Client,
  query: string,
  pageSize: number,
  pageTimeoutMs?: number,
): AsyncGenerator<WorkflowInfo> {
  for await (const page of listPages(client, query, pageSize, pageTimeoutMs)) yield* page;
}

/** The same, page by page. */
export async function* listPages(
  client: Client,
  query: string,
  pageSize: number,
  pageTimeoutMs?: number,
): AsyncGenerator<readonly WorkflowInfo[]> {
  for await (const page of listRawPages(client, query, pageSize, pageTimeoutMs)) {
    yield page.map((raw) => workflowInfo(raw));
  }
}

/** The same as Temporal has it, memos included. */
export async function* listRawPages(
  client: Client,
  query: string,
  pageSize: number,
  pageTimeoutMs?: number,
): AsyncGenerator<Page['executions']> {
  let nextPageToken: Uint8Array = new Uint8Array();
  do {
    const request = { namespace: client.options.namespace, query, pageSize, nextPageToken };
    const ask = (): Promise<Page> => client.workflowService.listWorkflowExecutions(request);
    const inTime = (ms: number): Promise<Page> => client.withDeadline(Date.now() + ms, ask);
    const page = await (pageTimeoutMs === undefined ? ask() : inTime(pageTimeoutMs));
    yield page.executions;
    ({ nextPageToken } = page);
  } while (nextPageToken.length > 0);
}
