import { redactUrl } from '../domain/redact-url';
import { SourceError } from './errors';
import { openFolderSource } from './folder-source';
import { openHttpsSource } from './https-source';
import { openS3Source } from './s3-source';
import type { OpenedSource, SourceRules } from './opened-source';

const scheme = /^([a-z][a-z0-9+.-]*):\/\//i;

/**
 * Opens the source of an input file: a path under one of the input roots, an `https:` URL or an `s3:` URI; both are
 * fetched into a temporary file.
 *
 * @throws SourceError that names the value and what to do, or the abort reason of the signal.
 */
export async function openSource(source: string, rules: SourceRules, signal?: AbortSignal): Promise<OpenedSource> {
  signal?.throwIfAborted();
  const named = scheme.exec(source)?.[1]?.toLowerCase();
  switch (named) {
    case undefined:
      return openFolderSource(source, rules);
    case 'https':
    case 'http':
      return openHttpsSource(source, rules, signal);
    case 's3':
      return openS3Source(source, rules, signal);
    default:
      throw new SourceError('UNKNOWN_SCHEME', {
        source: redactUrl(source),
        problem: `begins with ${named}:`,
        remedy: 'use a path under an input root of the worker, an https: URL or an s3: URI',
      });
  }
}
