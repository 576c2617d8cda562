/** So much of an archive's id tells it from another. */
const archiveIdLength = 8;

/** The part of an archive's id that stands in a worker's identity. */
export function shortArchiveId(archiveId: string): string {
  return archiveId.slice(0, archiveIdLength);
}

/** The identity of a worker that keeps this archive: `<process>/archive-<first digits of its id>`. */
export function withArchive(processIdentity: string, archiveId: string): string {
  return `${processIdentity}/archive-${shortArchiveId(archiveId)}`;
}

/** Of a worker's identity, its archive; undefined where it has none: no worker of Longhaul, or of an older version. */
export function archiveOf(identity: string): string | undefined {
  return /\/archive-([0-9a-f]{8})$/.exec(identity)?.[1];
}
