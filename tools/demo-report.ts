import { Client, Connection } from '@temporalio/client';
import sharp from 'sharp';
import type { ReferenceService } from '../reference-service/start-reference-service';
import { statusQuery } from '../src/contract/task-messages';
import type { TaskResult } from '../src/contract/task-result';
import type { TemporalServer } from './temporal-server';

/** What the report is made from. */
export interface DemoFacts {
  readonly temporal: TemporalServer;
  readonly service: ReferenceService;
  readonly result: TaskResult;
  readonly photo: string;
}

/** The end of the demo: where things are, and the figures that show that the promises held. */
export async function demoReport({ temporal, service, result, photo }: DemoFacts): Promise<string> {
  const requestId = result.requestId ?? '';
  const [output] = result.outputs;
  const facts = await workflowFacts(temporal, result.workflowId);
  const asked = (endpoint: 'create' | 'detail'): number => service.ledger.entries({ endpoint, requestId }).length;
  return [
    '',
    `  photo      ${photo}, ${await sizeOf(photo)}`,
    `  picture    ${output?.path ?? 'none'}, ${output === undefined ? '' : await sizeOf(output.path)}`,
    `  SHA-256    ${output?.sha256 ?? ''}`,
    `  manifest   ${result.manifest ?? ''}`,
    `  time line  ${timeLine(result)}`,
    `  creates    ${asked('create')} (requests to create this task, from the service's own ledger)`,
    `  reports    ${asked('detail')} (queries for its state; the workflow counts ${facts.polls})`,
    `  history    ${facts.events} events`,
    `  Web UI     ${temporal.uiUrl ?? ''}/namespaces/${temporal.namespace}/workflows/${encodeURIComponent(result.workflowId)}`,
    '',
  ].join('\n');
}

async function workflowFacts(temporal: TemporalServer, id: string): Promise<{ events: number; polls: number }> {
  const connection = await Connection.connect({ address: temporal.address });
  try {
    const workflow = new Client({ connection, namespace: temporal.namespace }).workflow.getHandle(id);
    const [{ historyLength }, { polls }] = await Promise.all([workflow.describe(), workflow.query(statusQuery)]);
    return { events: historyLength, polls };
  } finally {
    await connection.close();
  }
}

async function sizeOf(path: string): Promise<string> {
  const { width, height } = await sharp(path).metadata();
  return `${width} x ${height}`;
}

/** The service's timestamps, each with the seconds since the task was created. */
function timeLine({ timestamps }: TaskResult): string {
  const names = ['createdAt', 'executedAt', 'runningAt', 'endedAt'] as const;
  const beginMs = Date.parse(timestamps['createdAt']?.iso ?? '');
  const moments = names.flatMap((name) => {
    const iso = timestamps[name]?.iso;
    if (iso == null) return [];
    const seconds = (Date.parse(iso) - beginMs) / 1000;
    const time = iso.slice(11, 19);
    return [name === 'createdAt' ? `created ${time} UTC` : `${name.replace('At', '')} +${seconds} s`];
  });
  return moments.join(', ');
}
