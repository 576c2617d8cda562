// node .ci/summarize.js FOLDER SUITE...: closes a run of .ci/run. FOLDER holds `steps.tsv` (name, exit code, seconds)
// and, for every step that is a SUITE, jest's report `<name>.json`. Prints what failed and, on the last line, how many
// tests passed and how many tests and steps failed. Exits with 1 when anything did.
const { existsSync, readFileSync } = require('node:fs');
const { join, relative } = require('node:path');
const { stripVTControlCharacters } = require('node:util');

const maxFailures = 40;
const maxMessageLines = 25;

/** What a step adds to the count; each failure has a heading and perhaps a message. */
function outcomeOf({ name, exitCode, isSuite }, folder) {
  const report = isSuite ? readReport(join(folder, `${name}.json`)) : undefined;
  if (report === undefined) {
    const ending = isSuite ? `it ended with exit code ${exitCode} and without a report` : `exit code ${exitCode}`;
    return { passed: 0, skipped: 0, failures: isSuite || exitCode !== 0 ? [{ what: `${name}: ${ending}` }] : [] };
  }
  const failures = report.testResults.flatMap((suite) => failuresOf(suite));
  if (report.numPassedTests + report.numFailedTests === 0) failures.push({ what: `${name}: not one test was run` });
  if (exitCode !== 0 && failures.length === 0) {
    // A hang, say, or a failure outside of every suite.
    failures.push({ what: `${name}: no test failed, but its exit code is ${exitCode}` });
  }
  return { passed: report.numPassedTests, skipped: report.numPendingTests + report.numTodoTests, failures };
}

/** The failed tests of a suite, or the suite itself when it failed outside of them. */
function failuresOf({ name, status, message, assertionResults }) {
  const path = relative(process.cwd(), name);
  const failed = assertionResults.filter((test) => test.status === 'failed');
  if (failed.length === 0 && status === 'failed') return [{ what: path, message }];
  return failed.map((test) => ({ what: `${path} › ${test.fullName}`, message: test.failureMessages.join('\n') }));
}

/** jest's report; undefined when there is none, or only a part of one. */
function readReport(file) {
  if (!existsSync(file)) return undefined;
  try {
    const report = JSON.parse(readFileSync(file, 'utf8'));
    return Array.isArray(report.testResults) ? report : undefined;
  } catch {
    return undefined;
  }
}

function shown({ what, message = '' }) {
  const lines = stripVTControlCharacters(message)
    .trim()
    .split('\n')
    .filter((line) => line !== '');
  const cut = lines.slice(0, maxMessageLines).map((line) => `    ${line.slice(0, 400)}`);
  return [`✕ ${what}`, ...cut, ...(lines.length > cut.length ? ['    …'] : [])].join('\n');
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}

const [folder, ...suites] = process.argv.slice(2);
const steps = readFileSync(join(folder, 'steps.tsv'), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => line.split('\t'))
  .map(([name, exitCode, seconds]) => ({ name, exitCode: Number(exitCode), seconds, isSuite: suites.includes(name) }));
const absent = suites.filter((suite) => !steps.some(({ name }) => name === suite));
const outcomes = steps.map((step) => outcomeOf(step, folder));
const failures = [
  ...outcomes.flatMap((outcome) => outcome.failures),
  ...absent.map((suite) => ({ what: `${suite}: it was never run` })),
];

console.log('\n== summary');
steps.forEach(({ name, seconds }, index) => {
  console.log(
    `${outcomes[index].failures.length === 0 ? 'ok    ' : 'FAILED'} ${name.padEnd(14)} ${seconds.padStart(5)} s`,
  );
});
for (const failure of failures.slice(0, maxFailures)) console.log(`\n${shown(failure)}`);
if (failures.length > maxFailures) console.log(`\n… and ${failures.length - maxFailures} more`);
const skipped = sum(outcomes.map((outcome) => outcome.skipped));
const passed = sum(outcomes.map((outcome) => outcome.passed));
console.log(`\n${passed} passed, ${failures.length} failed${skipped === 0 ? '' : `, ${skipped} skipped`}`);
process.exitCode = failures.length === 0 ? 0 : 1;
