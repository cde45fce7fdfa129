import { MAX_DOMAINS, MAX_TEAM_ID_LENGTH } from '../wire/request.ts'
import type { InvalidCode } from '../wire/response.ts'

/** When a hostname gets each code. A code that is missing here does not compile. */
const invalidCodes: Readonly<Record<InvalidCode, string>> = {
  empty_domain: 'Nothing but white space.',
  invalid_domain: 'Not a hostname, or an unusual spelling of a public IP address.',
  public_suffix_domain: 'A public suffix, or a wildcard over one.',
  internal_domain: 'Not in the public DNS.',
  reserved_ip: 'An IP address that is not the address of a public server, in any spelling.',
  wildcard_conflict: 'A wildcard that the team has registered covers it.',
  subdomain_conflict: 'A wildcard that would cover hostnames which the team has registered.',
  domain_already_licensed: 'It overlaps with a registration of another team.',
  internal_error: 'It could not be saved, though others were. Send it again later.',
}

/** A Markdown list of codes and what they mean. */
export const list = (meanings: Readonly<Record<string, string>>): string =>
  Object.entries(meanings)
    .map(([code, meaning]) => `- \`${code}\`: ${meaning}`)
    .join('\n')

/** A request: all properties are required, and others are ignored. */
const request = (properties: object, description: string) => ({
  type: 'object',
  description,
  properties,
  required: Object.keys(properties),
})
/** A part of an answer: all properties are required, and there are no others. */
const answer = (properties: object, description: string) => ({
  ...request(properties, description),
  additionalProperties: false,
})
const text = (description: string) => ({ type: 'string', description })
const count = { type: 'integer', minimum: 0, maximum: MAX_DOMAINS }
const upTo100 = { type: 'array', minItems: 1, maxItems: MAX_DOMAINS }
const input = text('The hostname exactly as it was submitted.')
const domains = {
  ...upTo100,
  items: { type: 'string' },
  description:
    'Hostnames: names such as `www.example.com`, wildcards such as `*.example.com`, and public IP addresses. ' +
    'International names may be in Unicode. Each gets its own result.',
}

export const refer = (name: string) => ({ $ref: `#/components/schemas/${name}` })

export const schemas = {
  OrganizationRequest: request(
    {
      domains,
      team_id: {
        ...text(`The ID of the team to act on, one of the organization's: at most ${MAX_TEAM_ID_LENGTH} digits.`),
        maxLength: MAX_TEAM_ID_LENGTH,
        pattern: '^[0-9]+$',
      },
    },
    'What to send with an organization key. Unknown fields are ignored.',
  ),
  TeamRequest: request({ domains }, 'What to send with a team key. Unknown fields are ignored, and so is `team_id`.'),
  RegisterDomainsResponse: answer(
    {
      data: answer(
        {
          results: { ...upTo100, items: refer('DomainResult'), description: 'In the order of the hostnames.' },
          totals: refer('Totals'),
        },
        'What became of the hostnames.',
      ),
    },
    'The answer to a call.',
  ),
  DomainResult: { oneOf: [refer('RegisteredResult'), refer('InvalidResult')] },
  RegisteredResult: answer(
    {
      status: {
        ...text('`created`: registered by this call. `existing`: registered before, or twice in this call.'),
        enum: ['created', 'existing'],
      },
      input,
      domain: text('The registered hostname in canonical form: lower case, A-labels, no trailing dot.'),
      domainId: text('Identifies the registration: opaque, and the same as long as the hostname stays registered.'),
    },
    'The hostname is registered in the team.',
  ),
  InvalidResult: answer(
    {
      status: { type: 'string', enum: ['invalid'] },
      input,
      code: { ...text(list(invalidCodes)), enum: Object.keys(invalidCodes) },
      message: text('For a person: what is wrong and, where it is plain, what to send instead.'),
    },
    'The hostname was not registered.',
  ),
  Totals: answer({ created: count, existing: count, invalid: count }, 'How many results have each status.'),
  ErrorResponse: answer(
    {
      error: text('What went wrong, for programs: a code listed with the status, or one of this server alone.'),
      message: text('What went wrong and what to send instead, for a person.'),
    },
    'The whole call failed.',
  ),
}
