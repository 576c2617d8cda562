import type { ServiceClient } from '../../../src/service';
import type { Longhaul } from '../../../src/client/longhaul';
import type { FindingView } from '../../../src/reconcile/finding-view';
import { runCommandLine } from '../../../src/commands/program';
import { reconcile, type ReconcileOptions, type Reconciliation } from '../../../src/reconcile/reconcile';
import { FolderArchive } from '../../../src/storage/archive/folder-archive';
import { FakeContext } from '../../support/fake-context';
import { shellWords } from '../../support/shell-words';

interface Parts {
  readonly longhaul: Longhaul;
  readonly client: ServiceClient;
  /** The archive's folder. */
  readonly archive: string;
  readonly taskQueue: string;
}

/** Compares everything that is known, unless `more` says otherwise. */
export async function compareAll(
  { longhaul, client, archive, taskQueue }: Parts,
  more: Partial<ReconcileOptions>,
): Promise<Reconciliation> {
  return await reconcile(
    { longhaul, services: new Map([['default', client]]), archive: new FolderArchive(archive) },
    {
      requestIds: [],
      account: null,
      sinceMs: 0,
      changes: null,
      taskQueue,
      verify: false,
      settlements: [],
      onProgress: () => undefined,
      ...more,
    },
  );
}

/** Runs a printed command as a person would, in this process. */
export async function runCommand(command: string | undefined): Promise<FakeContext> {
  const context = new FakeContext({ TEMPORAL_ADDRESS: process.env['LONGHAUL_TEST_TEMPORAL_ADDRESS'] });
  await runCommandLine(shellWords(command ?? ''), context);
  return context;
}

export function commandsOf(finding: FindingView | undefined): string[] {
  return finding?.commands.map(({ command }) => command) ?? [];
}
