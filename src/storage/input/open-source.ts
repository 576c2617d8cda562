import { redactUrl, uriKind } from '../../core/uri';
import { SourceError } from '../errors';
import { openFolderSource } from './folder-source';
import { openHttpsSource } from './https-source';
import { atMinimumRate } from '../minimum-rate';
import { openS3Source } from './s3-source';
import type { OnProgress, OpenedSource, SourceRules } from './input-source';

/** A path under an input root, an `https:` URL or an `s3:` URI. Throws SourceError, or the signal's abort reason. */
export async function openSource(
  source: string,
  rules: SourceRules,
  signal?: AbortSignal,
  onProgress: OnProgress = () => undefined,
): Promise<OpenedSource> {
  signal?.throwIfAborted();
  const kind = uriKind(source);
  if (kind === undefined) return openFolderSource(source, rules);
  if (kind === 'foreign') {
    throw new SourceError('UNKNOWN_SCHEME', {
      source: redactUrl(source),
      problem: `begins with ${source.slice(0, source.indexOf(':')).toLowerCase()}:`,
      remedy: 'use a path under an input root of the worker, an https: URL or an s3: URI',
    });
  }
  const open = kind === 'http' ? openHttpsSource : openS3Source;
  const tooSlow = (rates: string): SourceError => {
    const problem = `comes too slowly: ${rates}`;
    return new SourceError('TOO_SLOW', { source: redactUrl(source), problem, remedy: 'use a faster source' });
  };
  return await atMinimumRate({ rate: rules.minimumRate, signal, tooSlow }, (either, onBytes) =>
    open(source, rules, either, (bytes) => {
      onBytes(bytes);
      onProgress(bytes);
    }),
  );
}
