const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** `0 B`, `512 B`, `20.5 kB`, `1.2 GB`: powers of 1000, as file managers and disks count. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let index = 0;
  while (value >= 999.95 && index < units.length - 1) {
    value /= 1_000;
    index += 1;
  }
  return `${index === 0 ? String(value) : value.toFixed(1)} ${units[index] ?? ''}`;
}
