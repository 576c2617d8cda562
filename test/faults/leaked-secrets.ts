import { readFileSync } from 'node:fs';
import type { Client } from '@temporalio/client';
import type { ReferenceService } from '../../reference-service/start-reference-service';
import { descriptionOf, type Evidence, filesOf, historyOf } from '../support/evidence';
import { findForbidden, type Forbidden } from '../support/find-forbidden';
import type { StackUnderTest, TaskUnderTest } from './task-under-test';

/** Where a secret of the stack stands: in histories and descriptions of these tasks, in logs, in the archive. */
export async function leakedSecrets(stack: StackUnderTest, tasks: readonly TaskUnderTest[]): Promise<string[]> {
  const { client, logFiles, archive } = stack.parts;
  const runs = await runsOf(client);
  const ofTasks: Evidence[] = [];
  for (const { workflowId } of tasks) ofTasks.push(await evidenceOf(client, workflowId, runs.get(workflowId) ?? []));
  const logs = logFiles.map((file) => ({ where: file, text: readFileSync(file, 'utf8') }));
  return findForbidden([...ofTasks, ...logs, ...archiveOf(archive)], readSecrets(stack));
}

/** Fills in every temporary credential that the service hands out from now on. */
export function recordCredentials({ authority }: ReferenceService): string[] {
  const credentials: string[] = [];
  const mint = authority.mint.bind(authority);
  authority.mint = (grant) => {
    const minted = mint(grant);
    credentials.push(minted.accessKeyId, minted.accessKeySecret, minted.securityToken);
    return minted;
  };
  return credentials;
}

/**
 * The runs of every workflow; one that was terminated or reset has several. In one list: a server allows few of them a
 * second.
 */
async function runsOf(client: Client): Promise<ReadonlyMap<string, readonly string[]>> {
  const runs = new Map<string, string[]>();
  for await (const { workflowId, runId } of client.workflow.list()) {
    runs.set(workflowId, [...(runs.get(workflowId) ?? []), runId]);
  }
  return runs;
}

async function evidenceOf(client: Client, workflowId: string, runIds: readonly string[]): Promise<Evidence> {
  const evidence: Evidence[] = [];
  // The newest may not be listed yet.
  for (const runId of [undefined, ...runIds]) {
    const handle = client.workflow.getHandle(workflowId, runId);
    evidence.push(...(await historyOf(handle)), ...(await descriptionOf(handle)));
  }
  // One text for each task: with thousands of credentials to look for, each text costs.
  return { where: workflowId, text: evidence.map(({ text }) => text).join('\n') };
}

/** What Longhaul writes itself; results are the service's bytes. */
function archiveOf(folder: string): Evidence[] {
  return filesOf(folder).filter(({ where }) => where.endsWith('.json'));
}

function readSecrets({ parts: { service, storage }, credentials, callbackToken }: StackUnderTest): Forbidden[] {
  return [
    { name: 'the API key', what: service.apiKey },
    { name: 'the callback token', what: callbackToken },
    { name: 'the storage’s root key', what: storage.rootSecretAccessKey },
    { name: 'a signature', what: /X-Amz-(Signature|Security-Token)=/i },
    { name: 'a bearer token', what: /Bearer [A-Za-z0-9._~+/-]{8,}/ },
    { name: 'a temporary credential', what: oneOf(credentials) },
  ];
}

/** Looks for thousands of credentials at once: each is one whole run of these characters. */
function oneOf(credentials: readonly string[]): (text: string) => boolean {
  const known = new Set(credentials);
  return (text) => (text.match(/[A-Za-z0-9_-]{16,}/g) ?? []).some((run) => known.has(run));
}
