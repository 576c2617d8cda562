import { type Browser, chromium } from 'playwright-core';
import { findChromium } from '../../tools/find-debian-program';

/** For a suite that begins a browser: in CI, it may have to be installed first. */
export const browserStartMs = 600_000;

/** For a container or root, and without any traffic of its own. */
const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--no-first-run',
  '--disable-component-update',
  '--disable-sync',
];

/** A headless Chromium of Debian; to be closed. Throws ToolError when there is none and none may be installed. */
export async function launchBrowser(): Promise<Browser> {
  return await chromium.launch({ executablePath: await findChromium(), args: flags });
}
