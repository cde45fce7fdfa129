/**
 * Hides secrets in a line that people will read: API keys, the secrets of webhooks, the user names and passwords of
 * URLs, and strings that the caller knows to be secret.
 *
 * A password that is not encoded may contain any character, so it ends at the last "@" of the line. Without a password,
 * what stands before an "@" is a user only up to the first "/": the "@" of a path stays.
 *
 * @param secrets Such as a password from the environment.
 */
export const redact = (line: string, secrets: readonly string[] = []): string =>
  withoutPassword(secrets.reduce((rest, secret) => rest.replaceAll(secret, '(hidden)'), line))
    .replace(/\/\/[^\s/?#]*@/g, '//')
    .replace(/(_(?:org|team)_\d+_)[\w\-.~+/]+=*/g, (_, owner: string) => `${owner}…`)
    .replace(/whsec_\S+/g, 'whsec_…')

/** Digits after the host's ":" are its port. */
function withoutPassword(line: string): string {
  const start = line.search(/\/\/[^\s/?#:]*:(?!\d*(?:[/?#\s]|$))\S/)
  const end = line.lastIndexOf('@')
  return start === -1 || end < start ? line : `${line.slice(0, start)}//${line.slice(end + 1)}`
}
