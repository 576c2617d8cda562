import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Progress } from './progress';
import { supervise } from './supervise';

/** After this, a network that lets nothing through is taken for none. */
const deadlineMs = 90_000;

/** Temporal's SDK downloads by starting a server; in a process of its own, it can be given up at any moment. */
const program = `
const { TestWorkflowEnvironment } = require('@temporalio/testing');
const [version, downloadDir] = process.argv.slice(1);
TestWorkflowEnvironment.createLocal({
  server: { executable: { type: 'cached-download', version, downloadDir }, log: { format: 'pretty', level: 'error' } },
})
  .then((environment) => environment.teardown())
  .catch((error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
`;

/**
 * Downloads the official binary of Temporal's CLI through Temporal's SDK, writes it to the path and returns true. Where
 * that is not possible it says so and returns false.
 */
export async function downloadTemporal(version: string, target: string, progress: Progress): Promise<boolean> {
  const folder = `${target}-download`;
  await mkdir(folder, { recursive: true });
  try {
    const download = await supervise({
      command: process.execPath,
      args: ['-e', program, version, folder],
      cwd: __dirname,
    });
    const timer = setTimeout(() => void download.stop(), deadlineMs);
    const { code } = await progress.during(`Downloading temporal ${version}`, () => 'at most 1:30', download.ended);
    clearTimeout(timer);
    const [file, ...others] = await readdir(folder);
    if (code === 0 && file !== undefined && others.length === 0) {
      await rename(join(folder, file), target);
      return true;
    }
    progress.say(`Temporal’s own download was not possible: ${lastLine(download.output()) || 'no answer in time'}.`);
    return false;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The reason is at the end of the SDK's chain of causes. */
function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.split(': ').slice(-2).join(': ') ?? '';
}
