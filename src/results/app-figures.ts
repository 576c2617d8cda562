import type { AppFigures } from '../domain/estimate';
import { appSamplesName, maxAppSamplesBytes, parseFigures } from '../formats/app-samples';
import { type Archive, readSmall } from '../storage/archive/archive';

/** So many apps are looked up. */
const maxApps = 20;

/** What earlier rows of these apps took and cost; one small file is read for each. Throws ArchiveError. */
export async function readAppFigures(
  archive: Pick<Archive, 'read' | 'size'>,
  apps: Iterable<number>,
): Promise<readonly AppFigures[]> {
  const figures: AppFigures[] = [];
  for (const webAppId of [...apps].slice(0, maxApps)) {
    const found = parseFigures(webAppId, await readSmall(archive, appSamplesName(webAppId), maxAppSamplesBytes));
    if (found !== null) figures.push(found);
  }
  return figures;
}
