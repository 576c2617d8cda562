import fc from 'fast-check';
import { printableText } from '../../../../src/core/text';
import type { ReportFacts, ReportRow } from '../../../../src/archive/report/report-data';
import type { ResultLine } from '../../../../src/archive/result-line';
import { reportHtml } from '../../../../src/archive/report/report-html';
import { relativeHref, toReportRow } from '../../../../src/archive/report/report-row';
import { useFuzzSeed } from '../../../support/fuzz-seed';

useFuzzSeed();

const facts: ReportFacts = {
  ...{
    batch: 'photos',
    ending: 'completed',
    source: 'rows.csv',
    files: null,
    archive: '/archive/batches/photos/outputs',
  },
  ...{ madeAt: '2026-03-01T00:00:00.000Z', commands: [], repairs: {}, workflowPages: null, leftOut: null },
};
const assets = { script: 'void 0;', style: 'body{}' };

const result: ResultLine = {
  ...{ key: 'a', line: 2, status: 'Success' as const, workflowId: 'batch:photos/a', requestId: null, failure: null },
  ...{
    outputs: [],
    outputCount: 0,
    failedOutputCount: 0,
    manifest: null,
    startedAt: null,
    endedAt: null,
    queuedSeconds: null,
    cost: null,
    costWithoutResult: null,
    seconds: null,
    costTimes: {},
    file: null,
    cells: [],
  },
};

async function html(of: ReportFacts, pages: readonly (readonly ReportRow[])[]): Promise<string> {
  async function* rows(): AsyncGenerator<readonly ReportRow[]> {
    yield* await Promise.resolve(pages);
  }
  let text = '';
  for await (const piece of reportHtml(of, rows(), assets)) text += piece;
  return text;
}

function dataIn(text: string, id: string): unknown {
  const found = new RegExp(`<script type="application/json" id="${id}">([^]*?)</script>`).exec(text);
  return JSON.parse(found?.[1] ?? '');
}

/** As a terminal shows it, but for tabs. */
function shown(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n').replaceAll(/[^\t]+/g, printableText);
}

describe('the HTML of a report', () => {
  it('carries every row and fact whatever they hold, shows what is unseen in them, and has nothing of it as markup', async () => {
    const hostile = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        'gpj.\u202exe',
        'a\tb\r\nc',
        '</script><script>alert(1)</script>',
        '<!--<script>',
        ']]>',
        '"><img src=x onerror=1>',
        '\u2028',
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(hostile, { maxLength: 5 }), hostile, async (keys, batch) => {
        const rows = keys.map((key) => toReportRow({ ...result, key }, () => null));
        const text = await html({ ...facts, batch }, [rows, []]);
        expect(dataIn(text, 'rows')).toEqual(rows.map((row) => ({ ...row, key: shown(row.key) })));
        expect(dataIn(text, 'facts')).toEqual({ ...facts, batch: shown(batch) });
        expect(text).not.toMatch(/[\p{Bidi_Control}\u2028\u0085]/u);
        expect(text.match(/<script/g)).toHaveLength(3);
        expect(text).not.toContain('<img');
      }),
      { numRuns: 50 },
    );
  });

  it('lets no script but its own run, and no request go anywhere else', async () => {
    const text = await html(facts, []);
    const policy = /Content-Security-Policy" content="([^"]*)"/.exec(text)?.[1];

    expect(policy).toMatch(
      /^default-src 'none'; base-uri 'none'; form-action 'none'; script-src 'sha256-[^' ]+'; style-src 'sha256-/,
    );
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
  });
});

describe('the way from a report to a file', () => {
  it.each([
    ['/a/batches/b/report.html', '/a/batches/b/outputs/r 1/0#.png', 'outputs/r%201/0%23.png'],
    ['/a/batches/b/report.html', '/a/elsewhere/0.png', '../../elsewhere/0.png'],
    ['s3://bucket/p/batches/b/report.html', 's3://bucket/p/batches/b/outputs/0.png', 'outputs/0.png'],
    ['s3://bucket/p/batches/b/report.html', 's3://other/p/0.png', null],
    ['s3://bucket/p/batches/b/report.html', '/a/0.png', null],
    ['/a/report.html', 'javascript:alert(1)', null],
    ['/a/report.html', '/a/half \ud800.png', 'half%20%EF%BF%BD.png'],
  ])('from %s to %s is %s', (page, path, href) => {
    expect(relativeHref(page, path)).toBe(href);
  });
});
