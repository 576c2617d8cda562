import { createHash } from 'node:crypto';
import { printableLine, printableText } from '../../core/text';
import type { PageAssets } from './page-assets';
import type { ReportFacts, ReportRow } from './report-data';

/**
 * The report of a batch as the text of one HTML file, in pieces. It makes no request but for the files beside it, and everything
 * that rows, services and names bring is data: a content security policy lets no other script run.
 */
export async function* reportHtml(
  facts: ReportFacts,
  rows: AsyncIterable<readonly ReportRow[]> | Iterable<readonly ReportRow[]>,
  { script, style }: PageAssets,
): AsyncGenerator<string, void, undefined> {
  const policy = [
    "default-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    `script-src ${sourceHash(script)}`,
    `style-src ${sourceHash(style)}`,
    // From a folder, 'self' matches nothing.
    "img-src 'self' file:",
    "media-src 'self' file:",
  ].join('; ');
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escapeHtml(printableLine(`${facts.batch} – Longhaul batch`))}</title>
<style>${style}</style>
</head>
<body>
<div id="page"><noscript>This report needs JavaScript. results.csv beside it has the same rows.</noscript></div>
<script type="application/json" id="facts">${jsonText(facts)}</script>
<script type="application/json" id="rows">[`;
  let isFirst = true;
  for await (const page of rows) {
    if (page.length === 0) continue;
    yield `${isFirst ? '' : ','}\n${page.map(jsonText).join(',\n')}`;
    isFirst = false;
  }
  yield `]</script>
<script>${script}</script>
</body>
</html>
`;
}

function sourceHash(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/**
 * JSON that can stand in an element: nothing in it ends the element or begins a comment. Its texts show what would be unseen
 * or turn the text around it.
 */
function jsonText(value: unknown): string {
  const json = JSON.stringify(value, (_name, one: unknown) => {
    if (typeof one !== 'string') return one;
    const parts = one.replaceAll(/\r\n?/g, '\n').split('\t');
    return parts.map(printableText).join('\t');
  });
  return json.replaceAll('<', String.raw`\u003c`);
}

function escapeHtml(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character);
}
