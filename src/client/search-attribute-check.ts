import { setTimeout as delay } from 'node:timers/promises';
import { status as grpcStatus } from '@grpc/grpc-js';
import { type ConnectionLike, isGrpcServiceError } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { type AttributeTypeName, searchAttributeNames, searchAttributeTypes } from '../contract/search-attributes';

/** The part of a connection that manages search attributes; a worker's native connection has it, too. */
export type OperatorConnection = Pick<ConnectionLike, 'operatorService' | 'workflowService'>;

const { INDEXED_VALUE_TYPE_KEYWORD, INDEXED_VALUE_TYPE_KEYWORD_LIST } = temporal.api.enums.v1.IndexedValueType;
const typeCodes: Readonly<Record<AttributeTypeName, temporal.api.enums.v1.IndexedValueType>> = {
  Keyword: INDEXED_VALUE_TYPE_KEYWORD,
  KeywordList: INDEXED_VALUE_TYPE_KEYWORD_LIST,
};
const visibleWithinMs = 30_000;
const checkAgainAfterMs = 200;

export interface SearchAttributeGaps {
  /** Not registered: `registerSearchAttributes` helps. */
  readonly missing: readonly string[];
  /** Registered as another type: an operator has to remove them. */
  readonly mistyped: readonly string[];
}

/** Whether the server leaves its operator service to others: Temporal Cloud, and clusters that ask for a role. */
export function isNotAllowed(error: unknown): boolean {
  const refusals: readonly unknown[] = [grpcStatus.PERMISSION_DENIED, grpcStatus.UNIMPLEMENTED];
  return isGrpcServiceError(error) && refusals.includes(error.code);
}

/** Where the operator service may not be asked, queries tell what is missing, but not of which type the rest is. */
export async function searchAttributeGaps(
  connection: OperatorConnection,
  namespace: string,
): Promise<SearchAttributeGaps> {
  let types: Map<string, temporal.api.enums.v1.IndexedValueType>;
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    types = new Map(Object.entries(customAttributes));
  } catch (error) {
    if (!isNotAllowed(error)) throw error;
    const taken = await Promise.all(searchAttributeNames.map((name) => areTaken(connection, namespace, [name])));
    return { missing: searchAttributeNames.filter((_, index) => taken[index] === false), mistyped: [] };
  }
  return {
    missing: searchAttributeNames.filter((name) => !types.has(name)),
    mistyped: searchAttributeNames.filter((name) => (types.get(name) ?? typeCode(name)) !== typeCode(name)),
  };
}

/** Without them no task can run (an unregistered one blocks a run). A worker checks before it polls. */
export async function missingSearchAttributes(connection: OperatorConnection, namespace: string): Promise<string[]> {
  const { missing, mistyped } = await searchAttributeGaps(connection, namespace);
  return [...missing, ...mistyped.map((name) => `${name} (registered, but not as ${attributeType(name)})`)];
}

export function attributeType(name: string): AttributeTypeName {
  return searchAttributeTypes[name] ?? 'Keyword';
}

function typeCode(name: string): temporal.api.enums.v1.IndexedValueType {
  return typeCodes[attributeType(name)];
}

/** Waits until Temporal takes them, a moment after it reports them. Throws after `visibleWithinMs`. */
export async function registerSearchAttributes(
  connection: OperatorConnection,
  namespace: string,
  names: readonly string[],
): Promise<void> {
  if (names.length === 0) return;
  const searchAttributes = Object.fromEntries(names.map((name) => [name, typeCode(name)]));
  await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
  const deadline = Date.now() + visibleWithinMs;
  for (;;) {
    const { missing } = await searchAttributeGaps(connection, namespace);
    if (!names.some((name) => missing.includes(name)) && (await areTaken(connection, namespace, names))) return;
    if (Date.now() > deadline) {
      throw new Error(`Temporal registered ${names.join(', ')}, but did not take them within ${visibleWithinMs} ms.`);
    }
    await delay(checkAgainAfterMs);
  }
}

/** Temporal refuses a query that names an unknown attribute. */
async function areTaken(connection: OperatorConnection, namespace: string, names: readonly string[]): Promise<boolean> {
  const query = names.map((name) => `${name} = "-"`).join(' AND ');
  try {
    await connection.workflowService.countWorkflowExecutions({ namespace, query });
    return true;
  } catch (error) {
    if (isGrpcServiceError(error) && error.code === grpcStatus.INVALID_ARGUMENT) return false;
    throw error;
  }
}
