/** What `go build -v` is doing, judged by its output so far. */
export function goBuildPhase(log: string): string {
  const lines = log.split('\n');
  const compiled = lines.filter(isPackage).length;
  if (compiled > 0) return `compiling, ${compiled} packages so far`;
  const downloads = lines.filter(isDownload).length;
  return downloads > 0 ? `downloading, ${downloads} modules so far` : 'starting';
}

/** Go's own words about what went wrong, without its reports of progress and shortened to the last lines. */
export function goFailure(log: string, maxLines = 12): string {
  const lines = log.split('\n').filter((line) => line.trim() !== '' && !isPackage(line) && !isDownload(line));
  return lines.length > maxLines ? ['…', ...lines.slice(-maxLines)].join('\n') : lines.join('\n');
}

/** What Go's words mean for the person who has to act on them. */
export type GoFailureKind = 'offline' | 'go-too-old' | 'disk-full' | 'other';

/** Sorts a failure by its remedy. */
export function goFailureKind(log: string): GoFailureKind {
  if (/requires go >= |invalid go version|toolchain not available|GOTOOLCHAIN/.test(log)) return 'go-too-old';
  if (log.includes('no space left on device')) return 'disk-full';
  if (/dial tcp|no such host|i\/o timeout|TLS handshake|connection re(fused|set)|GOPROXY|proxyconnect/.test(log)) {
    return 'offline';
  }
  return 'other';
}

const isDownload = (line: string): boolean => line.startsWith('go: downloading ');

// With -v, Go prints the import path of each package that it compiles, alone on a line.
const isPackage = (line: string): boolean => /^[\w.~-]+(\/[\w.~-]+)*$/.test(line);
