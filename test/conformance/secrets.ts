/** What must not appear in a verdict: keys, tokens, temporary credentials, and the signatures of links. */
export class Secrets {
  readonly #known = new Set<string>();

  /** Short values are no secrets, and leaving them out everywhere would spoil the words. */
  readonly learn = (secret: string): void => {
    if (secret.length >= 8) this.#known.add(secret);
  };

  redact(text: string): string {
    let shown = text.replace(/(https?:\/\/[^\s"'?]*)\?[^\s"']*/g, '$1?[redacted]');
    for (const secret of this.#known) shown = shown.replaceAll(secret, '[redacted]');
    return shown;
  }
}
