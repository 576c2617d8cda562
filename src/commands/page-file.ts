import path from 'node:path';
import { namespaceUrl } from '../client/temporal-access';
import { loadClientConfig } from '../config/client-config';
import { loadTemporalConnection } from '../config/temporal-connection';
import type { CommandContext } from './command-context';

interface PageFile {
  /** Absolute. */
  readonly file: string;
  /** Of the namespace in Temporal's Web UI; null when its address is not configured. */
  readonly webUi: string | null;
  readonly now: Date;
}

/** The file of `--html`, and what every page says of this moment and this namespace. */
export function pageFile({ env, cwd }: CommandContext, html: string): PageFile {
  const { webUiUrl } = loadClientConfig(env).config;
  const { namespace } = loadTemporalConnection(env);
  return { file: path.resolve(cwd, html), webUi: namespaceUrl(webUiUrl, namespace), now: new Date() };
}
