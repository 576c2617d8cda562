import { readFileSync } from 'node:fs';
import type { Client } from '@temporalio/client';
import { descriptionOf, type Evidence, filesOf, historyOf } from '../support/evidence';
import { findForbidden, type Forbidden } from '../support/find-forbidden';
import type { FaultStack } from './fault-stack';
import type { TaskUnderFire } from './task-under-fire';

/** Where a secret of the stack stands: in histories and descriptions of these tasks, in logs, in the archive. */
export async function leakedSecrets(stack: FaultStack, tasks: readonly TaskUnderFire[]): Promise<string[]> {
  const { client, logFiles, archive } = stack.parts;
  const ofTasks = await Promise.all(tasks.map(({ workflowId }) => evidenceOf(client, workflowId)));
  const logs = logFiles.map((file) => ({ where: file, text: readFileSync(file, 'utf8') }));
  return findForbidden([...ofTasks.flat(), ...logs, ...archiveOf(archive)], readSecrets(stack));
}

/** Every run of this id; a run that was terminated or reset is one of several. */
async function evidenceOf(client: Client, workflowId: string): Promise<Evidence[]> {
  const evidence: Evidence[] = [];
  const runIds = new Set<string | undefined>([undefined]);
  for await (const { runId } of client.workflow.list({ query: `WorkflowId = "${workflowId}"` })) runIds.add(runId);
  for (const runId of runIds) {
    const handle = client.workflow.getHandle(workflowId, runId);
    evidence.push(...(await historyOf(handle)), ...(await descriptionOf(handle)));
  }
  // One text for each task: with thousands of credentials to look for, each text costs.
  return [{ where: workflowId, text: evidence.map(({ text }) => text).join('\n') }];
}

/** What Longhaul writes itself; results are the service's bytes. */
function archiveOf(folder: string): Evidence[] {
  return filesOf(folder).filter(({ where }) => where.endsWith('.json'));
}

function readSecrets({ parts: { service, storage }, credentials, callbackToken }: FaultStack): Forbidden[] {
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
