import { classifyHostname } from '../hostname/classify.ts'
import { type Holdings, judge } from '../registry/overlap.ts'
import { internalError } from '../registry/register-names.ts'
import type { InvalidCode, InvalidResult } from '../wire/response.ts'

interface InvalidCodeDescription {
  /** When a hostname gets this code. */
  readonly meaning: string
  /** A hostname that gets it while {@link holdings} are registered. */
  readonly input: string
}

/** Describes every code of an invalid result. A code that is missing here does not compile. */
export const invalidCodes = {
  empty_domain: { meaning: 'Nothing but white space.', input: ' ' },
  invalid_domain: {
    meaning: 'Not a hostname, or an unusual spelling of a public IP address.',
    input: 'https://example.com/',
  },
  public_suffix_domain: { meaning: 'A public suffix, or a wildcard over one.', input: 'co.uk' },
  internal_domain: { meaning: 'Not in the public DNS.', input: 'localhost' },
  reserved_ip: { meaning: "An IP address that is nobody's public host, in any spelling.", input: '10.0.0.1' },
  wildcard_conflict: { meaning: 'A wildcard that the team has registered covers it.', input: 'api.example.org' },
  subdomain_conflict: {
    meaning: 'A wildcard that would cover hostnames which the team has registered.',
    input: '*.example.com',
  },
  domain_already_licensed: {
    meaning: 'It overlaps with a registration of another team.',
    input: 'wikipedia.org',
  },
  internal_error: {
    meaning: 'It could not be saved, though the others were. Send it again later.',
    input: 'www.example.net',
  },
} as const satisfies Record<InvalidCode, InvalidCodeDescription>

export const invalidCodeNames = Object.keys(invalidCodes) as InvalidCode[]

/** The result of team 1 for the hostname of a code. */
export function exampleOf(code: InvalidCode): InvalidResult {
  const { input } = invalidCodes[code]
  const answer = code === 'internal_error' ? internalError : answerTo(input)
  if (answer.status !== 'invalid' || answer.code !== code) throw new Error(`${input} is no example of ${code}`)
  return { status: 'invalid', input, code, message: answer.message }
}

function answerTo(input: string) {
  const hostname = classifyHostname(input)
  return hostname.valid ? judge(hostname, '1', holdings) : ({ status: 'invalid', ...hostname } as const)
}

/** Team 1 holds `www.example.com` and `*.example.org`, and another team `wikipedia.org`. */
const holdings: Holdings = {
  ownerOf: domain => (domain === 'wikipedia.org' ? '2' : undefined),
  covering: ({ domain }) => (domain === 'api.example.org' ? [{ domain: '*.example.org', teamId: '1' }] : []),
  below: () => ({ ownDomains: ['www.example.com'], ownCount: 1, heldByOthers: false }),
}
