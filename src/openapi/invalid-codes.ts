import type { InvalidCode } from '../wire/response.ts'

interface InvalidCodeDescription {
  /** When a hostname gets this code. */
  readonly meaning: string
  /** A hostname that gets it, where team 1 holds `www.example.com` and `*.example.org`, and another team `wikipedia.org`. */
  readonly input: string
  /** What the library says of it. */
  readonly message: string
}

/** Every code of an invalid result. A code that is not in this table does not compile. */
export const invalidCodes = {
  empty_domain: {
    meaning: 'Nothing but white space.',
    input: ' ',
    message: 'The hostname is empty; send a name such as "www.example.com".',
  },
  invalid_domain: {
    meaning: 'Not a hostname, or an unusual spelling of a public IP address.',
    input: 'https://example.com/',
    message: '"https://example.com/" is a URL, not a hostname; send "example.com" instead.',
  },
  public_suffix_domain: {
    meaning: 'A public suffix, or a wildcard over one.',
    input: 'co.uk',
    message: '"co.uk" is a public suffix, under which anybody may own names; send a name below it.',
  },
  internal_domain: {
    meaning: 'Not in the public DNS.',
    input: 'localhost',
    message: '"localhost" is set aside and not in the public DNS (RFC 6761).',
  },
  reserved_ip: {
    meaning: "An IP address that is nobody's public host, in any spelling.",
    input: '10.0.0.1',
    message: '"10.0.0.1" is in 10.0.0.0/8, Private-Use (RFC 1918); send a public address or a name.',
  },
  wildcard_conflict: {
    meaning: 'A wildcard that the team has registered covers it.',
    input: 'api.example.org',
    message:
      '"api.example.org" is covered by "*.example.org", which this team has registered; there is nothing to add.',
  },
  subdomain_conflict: {
    meaning: 'A wildcard that would cover hostnames which the team has registered.',
    input: '*.example.com',
    message:
      '"*.example.com" would cover "www.example.com", which this team has registered below "example.com"; release them first.',
  },
  domain_already_licensed: {
    meaning: 'It overlaps with a registration of another team.',
    input: 'wikipedia.org',
    message: '"wikipedia.org" cannot be registered: it overlaps with a registration of another team.',
  },
  internal_error: {
    meaning: 'It could not be saved, though the others were. Send it again later.',
    input: 'www.example.net',
    message: 'The hostname could not be processed, which is not its fault; send it again later.',
  },
} as const satisfies Record<InvalidCode, InvalidCodeDescription>

export const invalidCodeNames = Object.keys(invalidCodes) as InvalidCode[]
