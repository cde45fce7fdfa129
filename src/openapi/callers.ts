/** Texts about API keys, and the texts that replace them if the application identifies callers in its own way. */
const wordings: readonly (readonly [ofKeys: string, ofCallers: string])[] = [
  ['an API key is missing, malformed, unknown, expired or revoked. Send an active key.', 'log in again.'],
  ['Send a key that has this scope.', 'Call as a user who has this scope.'],
  ['The API key lacks', 'The caller lacks'],
  ['With an organization key', 'As a caller of an organization'],
  ['with an organization key', 'as a caller of an organization'],
  ['With a team key', 'As a caller of a team'],
  ['with a team key', 'as a caller of a team'],
  ['A team key acts for its own team', 'A caller of a team acts for that team'],
  ['a key may make', 'a caller may make'],
]

const named = new Set(['description', 'summary'])

/** For applications that identify callers themselves: rewrites all descriptions so that they do not mention keys. */
export function describeCallers<Part>(part: Part): Part {
  if (typeof part !== 'object' || part === null) return part
  const entries = Object.entries(part).map(([name, value]) => [
    name,
    named.has(name) && typeof value === 'string' ? reword(value) : describeCallers(value),
  ])
  return (Array.isArray(part) ? entries.map(([, value]) => value) : Object.fromEntries(entries)) as Part
}

const reword = (text: string): string =>
  wordings.reduce((rest, [ofKeys, ofCallers]) => rest.replaceAll(ofKeys, ofCallers), text)
