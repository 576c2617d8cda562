import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Info } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Client } from '@temporalio/client';
import { type ActivityDependencies, createActivities } from '../../../src/activities';
import { noOutputLimits, type OutputLimits } from '../../../src/activities/output-limits';
import { SharedUploads } from '../../../src/activities/shared-uploads';
import type { Activities, ArchiveOutputsInput, ArchiveOutputsResult } from '../../../src/contract/activities';
import { ServiceClient } from '../../../src/service';
import { createDownloadAgent } from '../../../src/storage/download';
import { FolderArchive } from '../../../src/storage/archive/folder-archive';
import { loopbackRule } from '../../support/loopback-rule';
import { listFiles } from '../../support/list-files';
import { ResultsService } from '../../support/results-service';
import { temporaryFolder } from '../../support/temporary-folder';
import { ActivityEnvironment } from '../../support/activity-environment';

export const requestId = '3f0c9f6e-1f0b-4e7c-8f3a-0a1b2c3d4e5f';
const input: ArchiveOutputsInput = {
  ...{ account: 'default', requestId, folder: '', status: 'Success', webAppId: 7, inputs: [], values: {} },
  ...{ timestamps: {}, costTimes: {}, cost: null, errorMessage: null },
};

/** A second attempt tells Temporal at once that it began. */
const client: unknown = {
  withDeadline: (_atMs: number, call: () => Promise<void>) => call(),
  withAbortSignal: (_signal: AbortSignal, call: () => Promise<void>) => call(),
  activity: { heartbeat: () => Promise.resolve() },
};

/** A manifest, as far as the tests look at it. */
export interface Manifest {
  readonly complete: boolean;
  readonly outputs: readonly Record<string, unknown>[];
}

export function newEnvironment(attempt: number, workflowId = 'task:order-17'): ActivityEnvironment {
  const info: Partial<Info> = { attempt, workflowExecution: { workflowId, runId: 'run' } };
  return new ActivityEnvironment(info, { client: client as Client });
}

/** The activity `archiveOutputs` over a service that answers as a test says, into a new folder for each test. */
export class ArchiveUnderTest {
  service = new ResultsService();
  limits: OutputLimits = noOutputLimits;
  /** The archive's folder. */
  place = '';
  openArchive = (folder: string): FolderArchive => new FolderArchive(folder);
  readonly #folder = temporaryFolder();
  readonly #downloads = createDownloadAgent(loopbackRule, { connectMs: 1_000, idleMs: 5_000 });
  #tests = 0;
  readonly #services = new Map<string, ServiceClient>();
  /** Of the test's worker. */
  #activities: Pick<Activities, 'archiveOutputs'> | undefined;

  async open(): Promise<ResultsService> {
    this.#tests += 1;
    this.place = join(this.#folder.path, String(this.#tests));
    this.limits = noOutputLimits;
    this.openArchive = (folder) => new FolderArchive(folder);
    this.#activities = undefined;
    this.service = await new ResultsService().start();
    return this.service;
  }

  async close(): Promise<void> {
    await this.#downloads.close();
    this.#folder.remove();
  }

  /** One attempt of the activity, as a worker makes it. */
  async attempt(
    more: Partial<ArchiveOutputsInput> = {},
    attempt = 1,
    environment = newEnvironment(attempt),
  ): Promise<ArchiveOutputsResult> {
    const account = new ServiceClient({ baseUrl: this.service.url, apiKey: 'key' });
    this.#services.set('default', account).set('other', account);
    this.#activities ??= this.#newActivities();
    try {
      return await environment.run(this.#activities.archiveOutputs, { ...input, ...more });
    } finally {
      await account.close();
    }
  }

  #newActivities(): Pick<Activities, 'archiveOutputs'> {
    const archive = this.openArchive(this.place);
    const limits = (): OutputLimits => this.limits;
    const parts: ActivityDependencies = {
      ...{ services: this.#services, limits: new Map(), archive },
      sources: { inputRoots: [], inputHosts: [], maxBytes: 1, spoolFolder: this.#folder.path },
      allowed: { accounts: null, tuning: true, recreate: true },
      uploadConnections: loopbackRule,
      sharedUploads: new SharedUploads(archive),
      downloads: this.#downloads,
      get outputLimits() {
        return limits();
      },
    };
    return createActivities(parts);
  }

  /** The manifest under the task's usual name. */
  async manifest(): Promise<Manifest> {
    return JSON.parse(await readFile(join(this.place, requestId, 'manifest.json'), 'utf8')) as Manifest;
  }

  /** The files in the task's usual folder. */
  kept(): readonly string[] {
    return listFiles(join(this.place, requestId));
  }
}

/** What each archived file holds. */
export async function contentsOf(result: ArchiveOutputsResult): Promise<string[]> {
  return await Promise.all(result.outputs.map(({ path }) => readFile(path, 'utf8')));
}

export async function failureOf(attempt: Promise<unknown>): Promise<ApplicationFailure> {
  const error: unknown = await attempt.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof ApplicationFailure) return error;
  throw new Error('The attempt did not end with a failure.', { cause: error });
}
