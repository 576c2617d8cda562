import { createHash } from 'node:crypto';
import { printableLine, printableText } from '../../core/text';
import type { PageAssets } from './page-assets';
import type { ReportFacts, ReportRow } from './report-data';

/** One HTML file, in pieces. It requests only files beside it; its security policy lets no script of the data run. */
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

/** Nothing in it ends the element or begins a comment, and no text is unseen or turns the text around it. */
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
