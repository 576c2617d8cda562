import type { AppFigures } from '../domain/estimate';
import { appSamplesName, parseFigures } from '../formats/app-samples';
import type { Archive } from '../storage/archive/archive';

/** So many apps are looked up. */
const maxApps = 20;

/** What earlier rows of these apps took and cost; one small file is read for each. Throws ArchiveError. */
export async function readAppFigures(
  archive: Pick<Archive, 'read'>,
  apps: Iterable<number>,
): Promise<readonly AppFigures[]> {
  const figures: AppFigures[] = [];
  for (const webAppId of [...apps].slice(0, maxApps)) {
    const found = parseFigures(webAppId, (await archive.read(appSamplesName(webAppId)))?.toString('utf8'));
    if (found !== null) figures.push(found);
  }
  return figures;
}
