/** What a JSON text says; `undefined` for a text that is not JSON. The parser's own error quotes the text: it stays here. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
