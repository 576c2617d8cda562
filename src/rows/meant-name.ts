/** Which of the known names somebody meant: `web_app_id` is `webAppId`. `undefined` for none, and for the name itself. */
export function meantName(name: string, known: readonly string[]): string | undefined {
  return known.find((one) => one !== name && plain(one) === plain(name));
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}
