import { redactUrl, uriKind } from '../../domain/uri';
import { SourceError } from '../errors';
import { openFolderSource } from './folder-source';
import { openHttpsSource } from './https-source';
import { atMinimumRate, TooSlowError } from '../minimum-rate';
import { openS3Source } from './s3-source';
import type { OnProgress, OpenedSource, SourceRules } from './input-source';

/**
 * Opens the source of an input file: a path under one of the input roots, an `https:` URL or an `s3:` URI; both are
 * fetched into a temporary file.
 *
 * @throws SourceError that names the value and what to do, or the abort reason of the signal.
 */
export async function openSource(
  source: string,
  rules: SourceRules,
  signal?: AbortSignal,
  onProgress: OnProgress = () => undefined,
): Promise<OpenedSource> {
  signal?.throwIfAborted();
  switch (uriKind(source)) {
    case undefined:
      return openFolderSource(source, rules);
    case 'http':
      return await fetchSource(openHttpsSource, source, rules, signal, onProgress);
    case 's3':
      return await fetchSource(openS3Source, source, rules, signal, onProgress);
    case 'foreign':
      throw new SourceError('UNKNOWN_SCHEME', {
        source: redactUrl(source),
        problem: `begins with ${source.slice(0, source.indexOf(':')).toLowerCase()}:`,
        remedy: 'use a path under an input root of the worker, an https: URL or an s3: URI',
      });
  }
}

async function fetchSource(
  open: typeof openS3Source,
  source: string,
  rules: SourceRules,
  signal: AbortSignal | undefined,
  onProgress: OnProgress,
): Promise<OpenedSource> {
  const { minimumRate: rate } = rules;
  try {
    return await atMinimumRate({ rate, signal }, (either, onBytes) =>
      open(source, rules, either, (bytes) => {
        onBytes(bytes);
        onProgress(bytes);
      }),
    );
  } catch (error) {
    if (!(error instanceof TooSlowError) || rate === undefined) throw error;
    throw new SourceError('TOO_SLOW', {
      source: redactUrl(source),
      problem: `comes too slowly: ${error.toText(rate)}`,
      remedy: 'use a faster source',
    });
  }
}
