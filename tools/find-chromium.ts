import { findExecutable } from './find-executable';
import type { FindOptions } from './find-temporal';
import { createProgress } from './progress';
import { supervise } from './supervise';
import { ToolError } from './tool-error';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/**
 * Finds Chromium or Chrome on PATH. In CI (`CI=true`), a Debian system installs it when it is missing; a person's
 * machine is left as it is, and a `ToolError` says what to install.
 */
export async function findChromium(options: FindOptions = {}): Promise<string> {
  const { env = process.env, progress = createProgress() } = options;
  const find = (): string | undefined =>
    names.map((name) => findExecutable(name, env)).find((path) => path !== undefined);
  const found = find();
  if (found) return found;
  const apt = findExecutable('apt-get', env);
  if (env['CI'] !== 'true' || !apt) {
    throw new ToolError(
      'The browser tests need Chromium or Google Chrome on PATH. Install it, on Debian with `apt-get install chromium`.',
    );
  }
  progress.say('Installing Chromium from Debian, for the browser tests.');
  await aptGet(apt, ['update'], env, options);
  await aptGet(apt, ['install', '--yes', '--no-install-recommends', 'chromium'], env, options);
  const installed = find();
  if (!installed) throw new ToolError('apt-get installed Chromium, but no browser is on PATH.');
  return installed;
}

async function aptGet(
  apt: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  { progress = createProgress() }: FindOptions,
): Promise<void> {
  const run = await supervise({ command: apt, args, env: { ...env, DEBIAN_FRONTEND: 'noninteractive' } });
  const { code } = await progress.during(`apt-get ${args[0] ?? ''}`, () => lastLine(run.output()), run.ended);
  if (code === 0) return;
  const words = run.output().trim().split('\n').slice(-5).join('\n');
  throw new ToolError(`\`apt-get ${args.join(' ')}\` failed:\n${words}\nInstall Chromium by hand and put it on PATH.`);
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
