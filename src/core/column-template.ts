export type TemplatePiece =
  /** `isStray`: a brace, or `{}`, that is neither a placeholder nor doubled. */
  { readonly text: string; readonly isStray: boolean } | { readonly placeholder: string };

const tokens = /\{\{|\}\}|\{([^{}]*)\}|[^{}]+|[{}]/g;

/** Reads a text with placeholders such as `{column}`; `{{` and `}}` stand for braces. */
export function parseTemplate(text: string): readonly TemplatePiece[] {
  return [...text.matchAll(tokens)].map(([token, placeholder]): TemplatePiece => {
    if (placeholder !== undefined && placeholder !== '') return { placeholder };
    if (token === '{{' || token === '}}') return { text: token.charAt(0), isStray: false };
    return { text: token, isStray: /^[{}]/.test(token) };
  });
}
