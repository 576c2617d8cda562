const urlInText = /[a-z][a-z0-9+.-]{0,30}:\/\/([^\s/?#"'<>\\]*)[^\s"'<>\\]*/gi;

/** Words with each URL cut down to its host: enough to know who was asked, nothing that leads to a file. */
export function withoutUrls(text: string): string {
  return text.replace(urlInText, (_url, authority: string) => authority.slice(authority.lastIndexOf('@') + 1));
}
