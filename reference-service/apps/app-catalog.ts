import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { parseGraph, type Graph } from './graph';

/** A published workflow application. */
export interface App {
  readonly webAppId: number;
  readonly name: string;
  readonly description: string;
  readonly graph: Graph;
}

/** All published apps by their `web_app_id`. */
export type AppCatalog = ReadonlyMap<number, App>;

/** The apps that come with the service. */
export const APPS_FOLDER = __dirname;

const appSchema = z.strictObject({
  web_app_id: z.int().positive(),
  name: z.string().min(1),
  description: z.string().min(1),
  graph: z.unknown(),
});

/** Reads every `*.json` of a folder as an app. Throws an Error that names the file when one is not in order. */
export async function loadApps(folder: string): Promise<AppCatalog> {
  const catalog = new Map<number, App>();
  const files = (await readdir(folder)).filter((file) => file.endsWith('.json')).sort();
  for (const file of files) {
    const app = await loadApp(join(folder, file), file);
    if (catalog.has(app.webAppId)) throw new Error(`app ${file}: web_app_id ${app.webAppId} is taken`);
    catalog.set(app.webAppId, app);
  }
  return new Map([...catalog].sort(([a], [b]) => a - b));
}

async function loadApp(path: string, file: string): Promise<App> {
  try {
    const { web_app_id, name, description, graph } = appSchema.parse(JSON.parse(await readFile(path, 'utf8')));
    return { webAppId: web_app_id, name, description, graph: parseGraph(graph) };
  } catch (error) {
    throw new Error(`app ${file}: ${error instanceof Error ? error.message : 'unreadable'}`, { cause: error });
  }
}
