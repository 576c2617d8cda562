const signatureParameters =
  /^(x-(amz|oss|goog|cos)-(signature|credential|security-token)|(q-)?signature|sig|security-token|ossaccesskeyid|awsaccesskeyid|(auth_|access_)?token|auth_key|(api|access)_?key)$/i;

const urlInText = /[a-z][a-z0-9+.-]{0,30}:\/\/[^\s"'<>]+/gi;

/**
 * The name of the first parameter that looks like a signature or a secret, in any URL of the text. Such a URL is a key
 * to the file: it must not enter a workflow history. Pure string work, because `URL` is not in the workflow sandbox's lib.
 */
export function signatureParameterOf(text: string): string | undefined {
  const names = (text.match(urlInText) ?? []).flatMap(parameterNames);
  return names.find((name) => signatureParameters.test(safeDecode(name)));
}

/** Whether a URL of the text carries a password (`https://name:password@host`): it must stay outside of histories, too. */
export function hasPassword(text: string): boolean {
  return /[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/?#"'<>@:]*:[^\s/?#"'<>]*@/i.test(text);
}

/** Everything after the address counts: some services put a token behind `#`, and some separate by `;`. */
function parameterNames(url: string): string[] {
  const [, ...parameters] = url.split(/[?#&;]/);
  return parameters.map((parameter) => parameter.split('=')[0] ?? '');
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
