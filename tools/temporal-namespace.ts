import { setTimeout as delay } from 'node:timers/promises';
import { status as grpcStatus } from '@grpc/grpc-js';
import { Connection, isGrpcServiceError } from '@temporalio/client';
import type { ConnectionOptions } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { searchAttributeNames, searchAttributeTypes } from '../src/contract/search-attributes';
import { ToolError } from './tool-error';

/** `INDEXED_VALUE_TYPE_KEYWORD` and `INDEXED_VALUE_TYPE_KEYWORD_LIST` of Temporal's API. */
const typeCodes = { Keyword: 2, KeywordList: 7 } as const;

const visibleWithinMs = 30_000;
const askEveryMs = 50;

/**
 * Registers a namespace with Longhaul's search attributes on a running server and returns when they are usable. Tests
 * isolate themselves by it. A namespace that exists already only gets the attributes it lacks.
 */
export async function createNamespace(address: string, name: string): Promise<void> {
  const connection = await connectTemporal(address);
  try {
    // Not preceded by a question whether it exists: the server would remember "not found" for a second.
    await register(connection, name);
    await ensureAttributes(connection, name);
  } finally {
    await connection.close();
  }
}

/** Connects to the server; to the one of `TEMPORAL_ADDRESS` with the TLS and API key of Temporal's own settings. */
export async function connectTemporal(address: string, env: NodeJS.ProcessEnv = process.env): Promise<Connection> {
  const options: ConnectionOptions =
    env['TEMPORAL_ADDRESS'] === address ? loadClientConnectConfig().connectionOptions : {};
  return Connection.connect({ ...options, address, connectTimeout: '10 seconds' });
}

/** Registers the namespace if it is missing and the search attributes that it lacks; returns when they are usable. */
export async function ensureNamespace(connection: Connection, namespace: string): Promise<void> {
  if (!(await exists(connection, namespace))) await register(connection, namespace);
  await ensureAttributes(connection, namespace);
}

async function ensureAttributes(connection: Connection, namespace: string): Promise<void> {
  const missing = await until(`namespace ${namespace}`, () => missingAttributes(connection, namespace));
  if (missing.length > 0) {
    await connection.operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(
        missing.map((name) => [name, typeCodes[searchAttributeTypes[name] ?? 'Keyword']]),
      ),
    });
  }
  await until(`the search attributes of namespace ${namespace}`, () => querySearchAttributes(connection, namespace));
}

async function exists(connection: Connection, namespace: string): Promise<boolean> {
  try {
    await connection.workflowService.describeNamespace({ namespace });
    return true;
  } catch (error) {
    if (grpcCode(error) === grpcStatus.NOT_FOUND) return false;
    throw error;
  }
}

async function register(connection: Connection, namespace: string): Promise<void> {
  try {
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: msToTs('1 day'),
    });
  } catch (error) {
    if (grpcCode(error) !== grpcStatus.ALREADY_EXISTS) throw error;
  }
}

async function missingAttributes(connection: Connection, namespace: string): Promise<string[]> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  for (const [name, wanted] of Object.entries(searchAttributeTypes)) {
    const type: number | null | undefined = customAttributes[name];
    if (type != null && type !== typeCodes[wanted]) {
      throw new ToolError(
        `Search attribute ${name} of namespace ${namespace} is not of type ${wanted}. Remove it there, or use another namespace.`,
      );
    }
  }
  return searchAttributeNames.filter((name) => customAttributes[name] == null);
}

/** A server takes an attribute over from its store some time after it is registered: a query that names it shows when. */
async function querySearchAttributes(connection: Connection, namespace: string): Promise<void> {
  const query = searchAttributeNames.map((name) => `${name} = 'x'`).join(' OR ');
  await connection.workflowService.countWorkflowExecutions({ namespace, query });
}

function grpcCode(error: unknown): number | undefined {
  return isGrpcServiceError(error) ? error.code : undefined;
}

/** Tries again for as long as the server says that it does not know of something that was just registered. */
async function until<T>(what: string, attempt: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + visibleWithinMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      const code = grpcCode(error);
      if (code !== grpcStatus.NOT_FOUND && code !== grpcStatus.INVALID_ARGUMENT) throw error;
      if (Date.now() > deadline) throw new ToolError(`Temporal did not show ${what} in time.`, { cause: error });
    }
    await delay(askEveryMs);
  }
}
