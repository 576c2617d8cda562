import type { AppInputs } from '../domain/app-inputs';
import type { AppFigures } from '../domain/estimate';
import { appSamplesName, maxAppSamplesBytes, parseFigures, parseInputs } from '../formats/app-samples';
import { type Archive, readSmall } from '../storage/archive/archive';

/** So many apps are looked up. */
const maxApps = 20;

/** What an archive knows of earlier rows. */
export interface EarlierRows {
  /** What they took and cost. */
  readonly figures: readonly AppFigures[];
  /** Of those that succeeded, by app. */
  readonly inputs: ReadonlyMap<number, AppInputs>;
}

/** What is known of earlier rows of these apps; one small file is read for each. Throws ArchiveError. */
export async function readEarlierRows(
  archive: Pick<Archive, 'read' | 'size'>,
  apps: Iterable<number>,
): Promise<EarlierRows> {
  const figures: AppFigures[] = [];
  const inputs = new Map<number, AppInputs>();
  for (const webAppId of [...apps].slice(0, maxApps)) {
    const text = await readSmall(archive, appSamplesName(webAppId), maxAppSamplesBytes);
    const found = parseFigures(webAppId, text);
    if (found !== null) figures.push(found);
    const names = parseInputs(text);
    if (names !== null) inputs.set(webAppId, names);
  }
  return { figures, inputs };
}
