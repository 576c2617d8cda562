import { posix } from 'node:path';
import type { Money } from '../../money/money';
import { pickPlace } from '../../core/batch/row-place';
import { boundedText } from '../../core/text';
import type { ResultLine } from '../result-line';
import type { ReportCost, ReportFile, ReportPair, ReportRow } from './report-data';

const maxCells = 50;
const maxCellLength = 300;

function toReportCells(cells: ResultLine['cells']): readonly ReportPair[] {
  return cells
    .map(([column, text]): ReportPair => [boundedText(column, maxCellLength), boundedText(text, maxCellLength)])
    .filter(([, text]) => text.trim() !== '')
    .slice(0, maxCells);
}

/** `href` leads from the page to a file of the archive; null where it cannot. */
export function toReportRow(result: ResultLine, href: (path: string, bytes: number) => string | null): ReportRow {
  const { key, status, workflowId, requestId, failure, manifest, queuedSeconds, cost } = result;
  const toCost = (money: Money | null): ReportCost => money && [money.currency, money.micros];
  const toMs = (iso: string | null): number | null => (iso === null ? null : Date.parse(iso));
  const files = result.outputs.map(({ path, bytes }): ReportFile => {
    return { name: posix.basename(path.replaceAll('\\', '/')), path, href: href(path, bytes), bytes };
  });
  return {
    key,
    ...pickPlace(result),
    state: status,
    workflowId,
    requestId,
    failure,
    files,
    manifest,
    queuedMs: queuedSeconds === null ? null : queuedSeconds * 1_000,
    cost: toCost(cost),
    lostCost: toCost(result.costWithoutResult),
    fileCount: result.outputCount,
    failedOutputs: result.failedOutputCount,
    startedMs: toMs(result.startedAt),
    endedMs: toMs(result.endedAt),
    cells: toReportCells(result.cells),
  };
}

/** Relative, so that it works in any copy. Both are paths of one folder, or `s3:` URIs of one bucket. */
export function relativeHref(page: string, path: string): string | null {
  const scheme = /^s3:\/\/[^/]+/.exec(page)?.[0] ?? '';
  if (!path.startsWith(`${scheme}/`)) return null;
  const relative = posix.relative(posix.dirname(page.slice(scheme.length)), path.slice(scheme.length));
  // Half a surrogate pair has no percent-encoding; no file is named so.
  return relative
    .replaceAll(/\p{Cs}/gu, '\u{FFFD}')
    .split('/')
    .map(encodeURIComponent)
    .join('/');
}
