import { batchWorkflowId } from '../../contract/workflow-ids';
import { defaultAccount } from '../../money/batch-budget';
import { formatMoney } from '../../money/money';
import { formatRowPlace } from '../../core/batch/row-place';
import { formatBytes, formatCount, formatCountOf, safeText, showValue } from '../../core/text';
import type { RowsReport } from '../../rows';
import { fit } from '../terminal';
import { formatEstimate, formatFixedCosts } from './file-estimate';
import { formatOnRecord } from './record-lookup';
import { variedWords } from './row-file-options';
import type { CheckedRows, ShownInput, ShownRow } from './rows-check';

export function rowsReportText(checked: CheckedRows): string {
  const { source, batchId, outputs, report, first, firstRow, onRecord } = checked;
  const { rows, fileRows, goodRows, badRows, derivedKeys, files } = report;
  const counts = `${formatCount(rows)}: ${formatCount(goodRows)} good, ${formatCount(badRows)} bad`;
  const isCut = first !== null && goodRows >= first;
  const byCode = Object.entries(report.problemsByCode).map(([code, count]) => `${formatCount(count)} ${code}`);
  const facts: readonly (readonly [name: string, lines: readonly string[]])[] = [
    ['batch', [batchWorkflowId(batchId)]],
    ['outputs', [`${outputs}, in the archive`]],
    ['rows', [isCut ? `${counts}; --first ${first} read no further` : counts]],
    ['varied', rows > fileRows ? [variedWords(report)] : []],
    ['to upload', [formatUploads(files)]],
    [
      'by URI',
      files.remoteReferences > 0 ? [`${formatCount(files.remoteReferences)} inputs, fetched by the workers`] : [],
    ],
    ['keys', derivedKeys > 0 ? [`${formatCount(derivedKeys)} derived from the rows’ content`] : []],
    ['on record', onRecord === null ? [] : formatOnRecord(onRecord)],
    ['first row', firstRow === null ? [] : shownRowLines(firstRow)],
    ...[...estimateFacts(checked), ...unpricedFacts(checked)].map((words) => ['estimate', [words]] as const),
    ['problems', badRows > 0 ? [byCode.join(', ')] : []],
    ['refused', checked.isRefused ? ['the run starts nothing of this file (RowsChanged): see "on record"'] : []],
  ];
  const lines = facts.flatMap(([name, texts]) =>
    texts.map((text, index) => `  ${(index === 0 ? name : '').padEnd(11)}${text}`),
  );
  return [source, ...lines, ...checked.problemLines].map((line) => fit(line, Infinity)).join('\n');
}

function estimateFacts(checked: CheckedRows): string[] {
  const { estimate, budget, fixedCosts, rowsToRun, rowsWithinBudget, isRecordKnown } = checked;
  if (estimate === null) return [];
  if (rowsToRun === 0) return ['nothing: the run starts no row of these'];
  // With a fixed price, the costs of earlier rows say nothing more.
  if (fixedCosts !== null) {
    const words = `${formatFixedCosts(fixedCosts, rowsToRun, estimate)}${which(isRecordKnown)}`;
    if (budget === null || rowsWithinBudget === null || rowsWithinBudget >= rowsToRun) return [words];
    const started = `${formatCountOf(rowsWithinBudget, 'row')} start${isRecordKnown ? '' : ', those on record included'}`;
    return [words, `the budget of ${formatMoney(budget)}${spentWords(checked)} lets ${started}`];
  }
  if ('unknown' in estimate) return [formatEstimate(estimate)];
  const words = `${formatEstimate(estimate)}${which(isRecordKnown)}`;
  const cost = estimate.costs.find(({ currency }) => currency === budget?.currency);
  if (budget === null || cost === undefined) return [words];
  const left = budget.micros - (checked.spent?.micros ?? 0);
  if (cost.p90 <= left) return [words];
  const verb = cost.median > left ? 'is' : 'may be';
  return [words, `the budget of ${formatMoney(budget)}${spentWords(checked)} ${verb} reached before the last row`];
}

function unpricedFacts({ estimate, unpricedRows }: CheckedRows): string[] {
  if (estimate === null || unpricedRows?.firstUnpriced == null) return [];
  const { unpriced, firstUnpriced } = unpricedRows;
  const where = `${unpriced === 1 ? '' : 'the first of them '}${formatRowPlace(firstUnpriced)}`;
  return [
    `LONGHAUL_PRICES_FILE has no price for ${formatCountOf(unpriced, 'row')} (${where}, app ${firstUnpriced.webAppId}), so their sum is not known`,
  ];
}

function spentWords({ spent }: CheckedRows): string {
  return spent === null || spent.micros === 0 ? '' : `, of which ${formatMoney(spent)} is spent,`;
}

function which(isRecordKnown: boolean): string {
  return isRecordKnown ? '' : '; if all of them run: rows on record are not paid again';
}

/** Without the problems, which were emitted one by one. */
export function rowsReportFacts(checked: CheckedRows): object {
  const { source, batchId, outputs, report, first, firstRow } = checked;
  const { estimate, onRecord, fixedCosts, rowsWithinBudget } = checked;
  const { rows, fileRows, goodRows, badRows, derivedKeys, problemCount, problemsByCode, files } = report;
  return {
    source,
    batchId,
    outputs,
    rows,
    fileRows,
    goodRows,
    badRows,
    derivedKeys,
    problemCount,
    problemsByCode,
    files,
    first,
    firstRow,
    ...(estimate && { estimate, rowsToRun: checked.rowsToRun }),
    ...(fixedCosts && { fixedCosts }),
    ...(rowsWithinBudget !== null && { rowsWithinBudget }),
    ...(onRecord && { onRecord, refused: checked.isRefused }),
  };
}

function formatUploads({ references, referencedBytes, distinct, distinctBytes }: RowsReport['files']): string {
  if (references === 0) return 'nothing';
  const files = `${formatCountOf(distinct, 'file')}, ${formatBytes(distinctBytes)}`;
  return references === distinct
    ? files
    : `${files}; named ${formatCount(references)} times, ${formatBytes(referencedBytes)} in all`;
}

/** The first line says which row it is. */
function shownRowLines({ key, webAppId, account, inputs, moreInputs, ...place }: ShownRow): string[] {
  const whose = account === defaultAccount ? '' : `, account ${showValue(account)}`;
  return [
    `${formatRowPlace(place)}, key ${showValue(key)}, app ${webAppId}${whose}`,
    ...inputs.map(inputLine),
    ...(moreInputs > 0 ? [`and ${formatCount(moreInputs)} more`] : []),
  ];
}

function inputLine(input: ShownInput): string {
  const { key, kind, value } = input;
  const shown = kind === 'text' ? showValue(value) : value;
  const size = kind === 'file' && input.bytes !== undefined ? ` (${formatBytes(input.bytes)})` : '';
  const form = kind === 'file' && input.as !== 'url' ? `, given as its ${input.as}` : '';
  return `${safeText(key)}  ${kind} ${shown}${size}${form}`;
}
