import type { PlantedFiles } from './planted-checkout';

/** What the planted files import; nothing is wrong with these. */
export const landings: readonly string[] = [
  ...'activities archive client client/codec client/traces commands config contract core rows servers service storage'
    .split(' ')
    .map((folder) => `src/${folder}/index.ts`),
  ...['src/worker/logger.ts', 'src/workflows/index.ts', 'src/activities/act.ts'],
  ...['src/index.ts', 'src/cli.ts', 'src/worker.ts', 'src/receiver.ts', 'src/replay.ts'],
  ...['reference-service/main.ts', 'reference-service/ledger.ts', 'tools/demo.ts', 'tools/servers.ts'],
  ...['test/support/eventually.ts', 'bench/load.ts'],
];

/** Breaches of every rule of `.dependency-cruiser.js`, in the ways that an import can be written. */
export const breaches: readonly (readonly [rule: string, path: string, code: string])[] = `
no-cycles | src/core/hen.ts | import { hatch } from './egg'; export const lay = () => hatch;
no-cycles | src/core/egg.ts | import { lay } from './hen'; export const hatch = () => lay;
no-cycles | src/core/left.ts | import type { Right } from './right'; export type Left = Right[];
no-cycles | src/core/right.ts | import type { Left } from './left'; export type Right = Left[];
no-unresolved | src/service/lost.ts | import './nowhere';
core-imports-nothing | src/core/builtin.ts | import { readFile } from 'node:fs';
core-imports-nothing | src/core/types.ts | import type { landing } from '../contract';
money-imports-only-core | src/money/types.ts | import type { landing } from '../contract';
contract-imports-only-pure-code-and-message-definitions | src/contract/client.ts | import { Client } from '@temporalio/client';
contract-imports-only-pure-code-and-message-definitions | src/contract/library.ts | import { z } from 'zod';
contract-imports-only-pure-code-and-message-definitions | src/contract/signal.ts | import { defineSignal } from '@temporalio/workflow'; export const use = defineSignal;
contract-imports-only-pure-code-and-message-definitions | src/contract/service.ts | import type { landing } from '../service';
contract-imports-the-archive-as-types | src/contract/format.ts | import { landing } from '../archive'; export const use = landing;
contract-imports-the-archive-as-types | src/contract/both-archive.ts | import { type Landing, landing } from '../archive'; export const use = landing;
workflows-import-only-pure-code | src/workflows/builtin.ts | import { randomUUID } from 'node:crypto';
workflows-import-only-pure-code | src/workflows/config.ts | import { landing } from '../config';
workflows-import-only-pure-code | src/workflows/late.ts | export const late = () => import('../service');
workflows-import-only-pure-code | src/workflows/required.ts | export const service = require('../service');
workflows-import-activities-as-types | src/workflows/code.ts | import { landing } from '../activities'; export const use = landing;
workflows-import-activities-as-types | src/workflows/passed-on.ts | export { landing } from '../activities';
workflows-import-activities-as-types | src/workflows/mixed.ts | import { type Landing, landing } from '../activities'; export const use = landing;
workflows-are-loaded-by-path | src/commands/workflows.ts | import { landing } from '../workflows'; export const use = landing;
archive-and-rows-know-no-temporal | src/archive/failure.ts | import { ApplicationFailure } from '@temporalio/common';
archive-and-rows-know-no-temporal | src/archive/detour.ts | import { landing } from '../contract/task-messages'; export const use = landing;
report-imports-no-storage | src/archive/report/storage.ts | import type { landing } from '../../storage';
report-page-imports-of-src-only-what-a-browser-runs | report-page/contract.ts | import type { landing } from '../src/contract';
service-and-storage-know-no-temporal | src/service/activity.ts | import { heartbeat } from '@temporalio/activity';
service-and-storage-know-no-temporal | src/storage/failure.ts | import type { ApplicationFailure } from '@temporalio/common';
service-imports-only-core-and-storage | src/service/contract.ts | import type { landing } from '../contract';
service-loads-no-storage-client-until-it-uploads | src/service/storage.ts | import { landing } from '../storage'; export const use = landing;
connections-are-opened-in-one-place | src/activities/agent.ts | import { Agent } from 'undici'; export const agent = new Agent();
storage-imports-only-core | src/storage/worker-side.ts | import { landing } from '../worker/logger';
rows-import-only-core-and-contract | src/rows/storage.ts | import { landing } from '../storage';
activities-import-only-what-they-act-on | src/activities/client.ts | import type { landing } from '../client';
activities-know-no-workflow-worker-or-client | src/activities/sleep.ts | import { sleep } from '@temporalio/workflow';
activities-know-no-workflow-worker-or-client | src/activities/own-client.ts | import { Client } from '@temporalio/client';
client-imports-no-worker-side | src/client/service.ts | import type { landing } from '../service';
client-imports-no-worker-side | src/client/worker-side.ts | import { landing } from '../worker/logger';
client-reaches-no-worker-side | src/client/detour.ts | import { detour } from '../config/detour'; export const use = detour;
client-reaches-no-worker-side | src/client/worker.ts | import { Worker } from '@temporalio/worker'; export const use = Worker;
servers-import-only-what-they-need | src/servers/client.ts | import type { landing } from '../client';
servers-know-of-temporal-only-the-client | src/servers/worker.ts | import { Worker } from '@temporalio/worker';
receiver-reaches-no-worker-side | src/servers/detour.ts | import { detour } from '../config/detour'; export const use = detour;
codec-imports-only-what-a-payload-needs | src/client/codec/client.ts | import type { landing } from '..';
codec-knows-of-temporal-only-payloads | src/client/codec/own-client.ts | import { Client } from '@temporalio/client';
reconcile-imports-only-whom-it-asks | src/reconcile/activities.ts | import type { landing } from '../activities/act';
archive-imports-only-what-an-archive-holds | src/archive/service.ts | import { landing } from '../service';
only-traces-know-opentelemetry | src/worker/span.ts | import { trace } from '@opentelemetry/api'; export const use = trace;
only-traces-know-opentelemetry | src/client/span-type.ts | import type { Span } from '@opentelemetry/api'; export type Own = Span;
traces-are-loaded-on-demand | src/commands/eager-traces.ts | import { landing } from '../client/traces'; export const use = landing;
config-imports-only-core | src/config/detour.ts | export { landing as detour } from '../service';
only-config-reads-the-environment | src/client/environment.ts | import { env } from 'node:process';
only-config-reads-the-environment | src/commands/profile.ts | import { loadClientConnectConfig } from '@temporalio/envconfig';
entries-are-imported-by-nothing | src/servers/entry.ts | import { landing } from '../worker';
entries-are-imported-by-nothing | src/storage/library.ts | import type { landing } from '../index';
worker-imports-no-command | src/worker/command.ts | import { landing } from '../commands';
commands-import-no-workflow-or-activity | src/commands/act.ts | import { landing } from '../activities';
commands-import-no-entry-but-those-they-run | src/commands/library-user.ts | import { landing } from '../index';
programs-are-imported-by-nothing | test/e2e/cli.ts | import { landing } from '../../src/cli';
programs-are-imported-by-nothing | tools/longer-demo.ts | import { landing } from './demo';
src-imports-no-development-part | src/config/tools.ts | import { landing } from '../../tools/servers';
src-imports-no-development-part | src/service/self.ts | import type { landing } from '../../reference-service/ledger';
reference-service-imports-nothing-of-src | reference-service/shared.ts | import type { landing } from '../src/core';
reference-service-imports-tools-only-to-run-alone | reference-service/storage/s3.ts | import { landing } from '../../tools/servers';
nothing-but-tests-imports-tests | src/client/wait.ts | import { landing } from '../../test/support/eventually';
examples-import-only-the-public-library | examples/inside.ts | import { landing } from '../src/client';
no-development-dependency-in-src | src/storage/picture.ts | import sharp from 'sharp'; export const use = sharp;
no-development-dependency-in-src | src/storage/bucket.ts | import { S3Client } from '@aws-sdk/client-s3'; export const use = S3Client;
no-undeclared-dependency | src/service/by-chance.ts | import * as acorn from 'acorn'; export const use = acorn;
`
  .trim()
  .split('\n')
  .map((line) => {
    const [rule = '', path = '', ...code] = line.split(' | ');
    return [rule, path, code.join(' | ')];
  });

/** Arrows of the design that no rule may stop. */
export const legitimate: PlantedFiles = {
  'src/contract/task-messages.ts': `import type { SignalDefinition } from '@temporalio/common'; import { landing } from '../core';`,
  'src/contract/rows.ts': `import type { landing } from '../archive'; export type Landing = typeof landing;`,
  'src/archive/file.ts': `import * as v from 'valibot'; import { landing } from '../contract';`,
  'src/workflows/types.ts': `import type { landing } from '../activities'; export type Landing = typeof landing;`,
  'src/workflows/story.ts': `import { sleep } from '@temporalio/workflow'; import { landing } from '../contract';`,
  'src/storage/connections.ts': `import { request } from 'undici'; import { landing } from '../core';`,
  'src/storage/s3/aws-sdk.ts': `export { S3Client } from '@aws-sdk/client-s3';`,
  'src/client/traces/opentelemetry-sdk.ts': `export { TracerProvider } from '@opentelemetry/sdk-trace';`,
  'src/rows/table.ts': `import { parse } from 'csv-parse/sync'; import { open } from 'node:fs/promises'; import { landing } from '../contract';`,
  'src/activities/all.ts': `import { heartbeat } from '@temporalio/activity'; import { landing } from '../storage';`,
  'src/servers/check.ts': `import { createServer } from 'node:http'; import type { landing } from '../config'; import * as v from 'valibot';`,
  'src/client/codec/cipher.ts': `import { createCipheriv } from 'node:crypto'; import { landing } from '../../config'; import type { Payload } from '@temporalio/common';`,
  'src/worker/worker-traces.ts': `import { trace } from '@opentelemetry/api'; import type { landing } from '../service'; export type Own = typeof landing;`,
  'src/commands/lazy-traces.ts': `import type { landing } from '../client/traces'; export const use = (): Promise<{ landing: typeof landing }> => import('../client/traces/index.js');`,
  'src/config/profile.ts': `import { loadClientConnectConfig } from '@temporalio/envconfig'; import * as v from 'valibot';`,
  'src/commands/worker.ts': `import { landing } from '../worker';`,
  'reference-service/storage/store.ts': `import { S3Client } from '@aws-sdk/client-s3'; import sharp from 'sharp';`,
  'tools/temporal.ts': `import { landing } from '../src/contract';`,
  'test/unit/any.ts': `import { landing } from '../../src/worker'; import sharp from 'sharp';`,
  'examples/backend.ts': `import { landing } from '../src'; import { Client } from '@temporalio/client';`,
};
