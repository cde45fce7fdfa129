import type { HostnameDetails } from '../hostname/mistake.ts'
import type { InvalidCode } from '../wire/response.ts'
import { MAX_DOMAINS, MAX_LIMIT, requests, teamRequests } from '../wire/schemas.ts'
import { toJsonSchema } from './json-schema.ts'

/** The meaning of each code of a hostname. The compiler reports a missing code. */
const invalidCodes: Readonly<Record<InvalidCode, string>> = {
  empty_domain: 'Empty, or only white space.',
  invalid_domain: 'The input is not a hostname, or is a public IP address in an unusual spelling.',
  public_suffix_domain: 'A public suffix such as `co.uk`, or a wildcard over one.',
  internal_domain: 'Not in the public DNS.',
  reserved_ip: 'An IP address that is not public, in any spelling.',
  wildcard_conflict: 'A wildcard of the same team already covers the hostname.',
  subdomain_conflict: 'The wildcard would cover hostnames that the same team has registered.',
  domain_already_licensed: 'The hostname overlaps with a registration of another team.',
  internal_error: 'This hostname may not have been saved, although others were. Send it again later.',
}

/** A Markdown list of codes and what they mean. */
export const toMarkdownList = (meanings: Readonly<Record<string, string>>): string =>
  Object.entries(meanings)
    .map(([code, meaning]) => `- \`${code}\`: ${meaning}`)
    .join('\n')

/** A request: all these properties are required, and any others are ignored. */
const request = (description: string, properties: object) => ({
  type: 'object',
  description,
  properties,
  required: Object.keys(properties),
})
/** A part of a response: all properties are required, and there are no others. */
const answer = (description: string, properties: object) => ({
  ...request(description, properties),
  additionalProperties: false,
})
const text = (description: string) => ({ type: 'string', description })
const count = { type: 'integer', minimum: 0, maximum: MAX_DOMAINS }
const upTo100 = { type: 'array', minItems: 1, maxItems: MAX_DOMAINS }
const input = text('The hostname exactly as submitted.')
const domain = text('The hostname in canonical form: lower case, A-labels, no trailing dot.')

export const refer = (name: string) => ({ $ref: `#/components/schemas/${name}` })

const status = (...values: readonly string[]) => ({ type: 'string', enum: values })

const answerOf = (description: string, data: object) =>
  answer('The response to a call.', { data: answer(description, data) })
const resultsOf = (result: string, totals: string) =>
  answerOf('The result of each hostname, and the number of results with each status.', {
    results: { ...upTo100, items: refer(result), description: 'In the order of the submitted hostnames.' },
    totals: refer(totals),
  })

const invalid = {
  status: status('invalid'),
  input,
  code: { ...text(toMarkdownList(invalidCodes)), enum: Object.keys(invalidCodes) },
  message: text('For people. Says what is wrong and, if only one hostname can be meant, what to send instead.'),
}

/** The fields that depend on the reason. The compiler reports a missing field. */
const details: Readonly<Record<keyof HostnameDetails, object>> = {
  character: text('The invalid character.'),
  label: text('The invalid label.'),
  length: { type: 'integer', minimum: 0, description: 'The length of the part that is too long.' },
  topLevel: text('The top-level label that is not in the public DNS.'),
  suffix: text('The public suffix after the `*.` of a wildcard.'),
  address: text('The IP address that the input represents, in canonical form.'),
  block: text('The reason why this address is not public, in English.'),
  source: text('The standard that reserves the name, such as `RFC 6761`.'),
}

export const schemas = {
  OrganizationRequest: toJsonSchema(requests.body),
  TeamRequest: toJsonSchema(teamRequests.body),
  RegisterDomainsResponse: resultsOf('DomainResult', 'Totals'),
  DomainResult: { oneOf: [refer('RegisteredResult'), refer('InvalidResult')] },
  RegisteredResult: answer('The hostname is registered by the team.', {
    status: {
      ...text('`created`: registered by this call. `existing`: already registered, or submitted earlier in this call.'),
      enum: ['created', 'existing'],
    },
    input,
    domain,
    domainId: text('The ID of the registration: opaque, and unchanged as long as the hostname stays registered.'),
  }),
  InvalidResult: answer('The hostname was not registered or deleted. `code` and `message` say why.', invalid),
  Totals: answer('How many results have each status.', { created: count, existing: count, invalid: count }),
  PreviewDomainsResponse: resultsOf('PreviewResult', 'Totals'),
  PreviewResult: { oneOf: [refer('PreviewedResult'), refer('InvalidPreview')] },
  PreviewedResult: {
    ...answer('The team has registered the hostname, or could register it now.', {
      status: {
        ...text('`created`: would be registered. `existing`: already registered, or submitted earlier in this call.'),
        enum: ['created', 'existing'],
      },
      input,
      domain,
      domainId: text('The ID of the registration, if there is one already.'),
    }),
    required: ['status', 'input', 'domain'],
  },
  InvalidPreview: {
    ...answer('A hostname that would not be registered, with more details than registering returns.', {
      ...invalid,
      ...details,
      reason: text('A more precise code, for programs. New reasons may be added.'),
      suggestion: text(
        'The hostname to send instead, in canonical form. Present only if no other hostname can be meant.',
      ),
      aLabels: text('The same name in A-labels, to send if the rejected character is intended.'),
      rest: text('What is left of the input after the mistake is removed, if that is still invalid.'),
      conflicts: {
        type: 'array',
        items: { type: 'string' },
        maxItems: 3,
        description: 'The conflicting registrations of the same team, at most three.',
      },
      count: {
        type: 'integer',
        minimum: 1,
        description: 'The number of conflicting registrations. From 1,000 on, the real number may be larger.',
      },
    }),
    required: [...Object.keys(invalid), 'reason'],
  },
  DeleteDomainsResponse: resultsOf('DeleteResult', 'DeleteTotals'),
  DeleteResult: { oneOf: [refer('DeletedResult'), refer('MissingResult'), refer('InvalidResult')] },
  DeletedResult: answer('The registration was deleted. The hostname can be registered again.', {
    status: status('deleted'),
    input,
    domain,
    domainId: text('The ID of the deleted registration.'),
  }),
  MissingResult: answer(
    'The team has not registered the hostname, or has already deleted it. Another team may have registered it.',
    {
      status: status('missing'),
      input,
    },
  ),
  DeleteTotals: answer('How many results have each status.', { deleted: count, missing: count, invalid: count }),
  ListDomainsResponse: answerOf('A page of registrations.', {
    domains: { type: 'array', maxItems: MAX_LIMIT, items: refer('ListedDomain') },
    next: {
      type: ['string', 'null'],
      description: 'Send it as `after` to get the next page; `null` if there are no more.',
    },
  }),
  ListedDomain: answer('A registration of the team.', {
    domain,
    domainId: text('The ID of the registration.'),
    createdAt: { ...text('The time of registration, in UTC (RFC 3339).'), format: 'date-time' },
  }),
  DomainsChanged: request('Registrations that have changed. Ignore unknown fields.', {
    type: status('domains.changed'),
    data: request('The changes.', { changes: { type: 'array', minItems: 1, items: refer('DomainChange') } }),
  }),
  DomainChange: request('A hostname that was registered or released.', {
    kind: status('registered', 'released'),
    domainId: text('The ID of the registration. IDs are never reused.'),
    domain,
    registrableDomain: text('The registrable domain of the hostname; for an IP address, the address itself.'),
    teamId: text('The ID of the team that registered or released the hostname.'),
    at: { ...text('The time of the registration or release, in UTC (RFC 3339).'), format: 'date-time' },
  }),
  ErrorResponse: answer('The whole call failed.', {
    error: text("For programs: one of the codes listed for the status, or one of this server's own."),
    message: text('For people. Says what went wrong, and what to send instead.'),
  }),
}
